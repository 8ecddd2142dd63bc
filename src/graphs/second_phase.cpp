#include "graphs/second_phase.hpp"

#include <algorithm>
#include <cmath>

namespace tonari {
namespace {

constexpr int most_rounds = 256;
constexpr int patience = 4;               // offers to the least busy
constexpr std::size_t most_asked = 16;    // of a rank's own targets
constexpr std::size_t most_pairs = 1024;  // found by one reduction

}  // namespace

SecondPhase::SecondPhase(World& world, Work work, const std::vector<Ranks>& targets, std::span<const Word> fixed) : world_(world), work_(work) {
  for (std::size_t k = 0; k < targets.size(); ++k) members_.push_back({Sending(world.here()[k], targets[k], fixed[k], work), targets[k]});
}

bool SecondPhase::run(int steps) {
  bool any = false, strangers = true;
  const Word most = find_most();
  for (int round = 0; round < most_rounds; ++round) {
    const Word limit = find_limit(most, steps);
    const std::vector<std::int32_t> takers = strangers ? least_busy(limit) : own_targets(limit);
    bool asked = false;
    for (std::int32_t taker : takers) asked = asked || taker != nobody;
    if (!world_.max(Word{asked})) {
      if (!strangers) break;
      strangers = false;
      continue;
    }
    any = offer(takers, limit) || any;
  }
  return world_.max(Word{any}) != 0;
}

// How much helpers may have to do. In the last stage the average, rounded up, or as many messages as the busiest rank then needs helpers, sqrt(most).
Word SecondPhase::find_limit(Word most, int steps) {
  Word work = 0;
  for (const Member& m : members_) work += m.sending.load();
  const Word average = (world_.sum(work) + world_.ranks() - 1) / world_.ranks();
  if (average >= most) return most;
  const auto message = static_cast<double>(work_.message), all = static_cast<double>(most), mean = static_cast<double>(std::max<Word>(average, 1));
  const double between = mean * std::pow(all / mean, 1 - 1. / steps), few = message * std::pow(all / message, steps / (steps + 1.));
  return static_cast<Word>(std::ceil(std::max(between, few)));
}

Word SecondPhase::find_most() {
  Word most = 0;
  for (const Member& m : members_) most = std::max(most, m.sending.load());
  return world_.max(most);
}

std::vector<std::int32_t> SecondPhase::least_busy(Word limit) {
  const std::size_t classes = std::min<std::size_t>(most_pairs, static_cast<std::size_t>(world_.ranks()));
  Extremes busy(world_, classes), idle(world_, classes);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& m = members_[k];
    const Word load = m.sending.load();
    if (load > limit && m.failures < patience && !m.took) busy.set(k, load);
    if (load < limit) idle.set(k, -load);
  }
  const Found found = find(world_, busy, idle);
  std::vector<std::int32_t> takers(members_.size(), nobody);
  const std::span<const std::int32_t> here = world_.here();
  for (std::size_t i = 0; i < std::min(found.high.size(), found.low.size()); ++i)
    if (const auto k = std::lower_bound(here.begin(), here.end(), found.high[i].rank); k != here.end() && *k == found.high[i].rank)
      takers[static_cast<std::size_t>(k - here.begin())] = found.low[i].rank;
  return takers;
}

std::vector<std::int32_t> SecondPhase::own_targets(Word limit) {
  std::vector<std::int32_t> takers(members_.size(), nobody);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    Member& m = members_[k];
    if (m.sending.load() <= limit || m.took || m.next == std::min(most_asked, m.own_targets.size())) continue;
    takers[k] = m.own_targets[(m.next++ * m.own_targets.size()) / std::min(most_asked, m.own_targets.size())];
  }
  return takers;
}

// An offer: work, messages more for the giver if it is taken, and the targets of what may be handed over. The answer: which of them, and messages more for the taker.
bool SecondPhase::offer(const std::vector<std::int32_t>& takers, Word limit) {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (takers[k] == nobody) continue;
    const Sending& giver = members_[k].sending;
    std::vector<Word> words{giver.load(), giver.cost(takers[k])};
    for (const Sending::Line& line : giver.lines())
      if (giver.alone(line) && line.target != takers[k]) words.push_back(line.target);
    world_.put(k, takers[k], words);
  }
  world_.exchange();
  std::vector<std::pair<std::size_t, std::pair<std::int32_t, std::vector<Word>>>> answers;
  for (std::size_t k : world_.receivers())
    for (const Letter& letter : world_.mail(k)) answers.push_back({k, {letter.from, take(members_[k], letter, limit)}});
  for (const auto& [k, answer] : answers) world_.put(k, answer.first, answer.second);
  world_.exchange();
  bool any = false;
  for (std::size_t k : world_.receivers()) {
    Member& m = members_[k];
    for (const Letter& letter : world_.mail(k)) {
      m.failures = letter.words.empty() ? m.failures + 1 : 0;
      any = any || !letter.words.empty();
      for (Word target : letter.words) m.sending.give(static_cast<std::int32_t>(target), letter.from);
    }
  }
  return any;
}

// What it writes to anyway first. Not beyond the limit, and not so much that the giver would have less to do than this rank.
std::vector<Word> SecondPhase::take(Member& m, const Letter& offer, Word limit) {
  std::vector<Word> targets(offer.words.begin() + 2, offer.words.end()), taken;
  std::erase(targets, Word{m.sending.rank()});
  const auto others = std::stable_partition(targets.begin(), targets.end(), [&](Word target) { return m.sending.writes(static_cast<std::int32_t>(target)); });
  const Word cost = offer.words[1];
  Word giver = offer.words[0] + cost * work_.message, load = m.sending.load() + cost * work_.helped;
  for (auto target = targets.begin(); target != targets.end(); ++target) {
    const Word more = (target < others ? 0 : work_.message) + work_.passed;
    if (giver - work_.message < load + more || giver <= limit || load + more > limit) break;
    giver -= work_.message;
    load += more;
    taken.push_back(*target);
  }
  if (giver >= offer.words[0]) return {};
  m.sending.help(cost);
  for (Word target : taken) m.sending.adopt(static_cast<std::int32_t>(target));
  m.took = true;
  return taken;
}

}  // namespace tonari
