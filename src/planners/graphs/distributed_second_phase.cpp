// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/distributed_second_phase.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tonari {
namespace {

constexpr int most_pairing_rounds = 256, most_turns = 3;
constexpr int patience = 4;               // offers to the least busy
constexpr std::size_t most_asked = 16;    // of a rank's own targets
constexpr std::size_t most_pairs = 1024;  // found by one reduction

}  // namespace

SecondPhase::SecondPhase(BspComm& bsp, Work work, const std::vector<Ranks>& targets,
                         std::span<const Word> fixed)
    : bsp_(bsp),
      work_(work),
      busy_(bsp, std::min(most_pairs, static_cast<std::size_t>(bsp.ranks()))),
      idle_(busy_) {
  for (std::size_t k = 0; k < targets.size(); ++k)
    members_.push_back({SendSet(bsp.here()[k], targets[k], fixed[k], work), targets[k]});
}

// The average rises by the messages to helpers; what that leaves is done in a second turn.
bool SecondPhase::run(int steps) {
  const Word most = find_most();
  bool any = false;
  for (int turn = 0; turn < most_turns; ++turn) {
    const Word before = std::exchange(limit_, find_limit(most, steps));
    if (limit_ == before) break;
    for (std::size_t k = 0; k < members_.size(); ++k) note(k);
    any = rounds([&] { return least_busy(); }) || any;
  }
  any = rounds([&] { return own_targets(); }) || any;
  return bsp_.max(Word{any}) != 0;
}

// Until nobody is asked any more.
bool SecondPhase::rounds(const std::function<std::vector<Offer>()>& find_offers) {
  bool any = false;
  for (int round = 0; round < most_pairing_rounds; ++round) {
    const std::vector<Offer> offers = find_offers();
    if (!bsp_.max(Word{!offers.empty()})) break;
    any = make(offers) || any;
  }
  return any;
}

void SecondPhase::note(std::size_t k) {
  const Member& m = members_[k];
  const Word load = m.sending.load();
  busy_.set(k, load > limit_ && m.failures < patience && !m.took ? load : DistributedTopK::none);
  idle_.set(k, load < limit_ ? -load : DistributedTopK::none);
}

// How much helpers may have to do. In the last stage the average, rounded up, or as many messages
// as the busiest rank then needs helpers, sqrt(most).
Word SecondPhase::find_limit(Word most, int steps) {
  Word work = 0;
  for (const Member& m : members_) work += m.sending.load();
  const Word average = (bsp_.sum(work) + bsp_.ranks() - 1) / bsp_.ranks();
  if (average >= most) return most;
  const auto message = static_cast<double>(work_.message), all = static_cast<double>(most),
             mean = static_cast<double>(std::max<Word>(average, 1));
  const double between = mean * std::pow(all / mean, 1 - 1. / steps),
               few = message * std::pow(all / message, steps / (steps + 1.));
  // pow may differ by a bit between processors, and all must go on alike
  return bsp_.max(static_cast<Word>(std::ceil(std::max(between, few))));
}

Word SecondPhase::find_most() {
  Word most = 0;
  for (const Member& m : members_) most = std::max(most, m.sending.load());
  return bsp_.max(most);
}

std::vector<SecondPhase::Offer> SecondPhase::least_busy() {
  const Found found = find(bsp_, busy_, idle_);
  const std::span<const std::int32_t> here = bsp_.here();
  std::vector<Offer> offers;
  for (std::size_t i = 0; i < std::min(found.high.size(), found.low.size()); ++i)
    if (const auto k = std::lower_bound(here.begin(), here.end(), found.high[i].rank);
        k != here.end() && *k == found.high[i].rank)
      offers.push_back({static_cast<std::size_t>(k - here.begin()), found.low[i].rank});
  return offers;
}

std::vector<SecondPhase::Offer> SecondPhase::own_targets() {
  std::vector<Offer> offers;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    Member& m = members_[k];
    const std::size_t asked = std::min(most_asked, m.own_targets.size());
    if (m.sending.load() > limit_ && !m.took && m.next < asked)
      offers.push_back({k, m.own_targets[m.next++ * m.own_targets.size() / asked]});
  }
  return offers;
}

// An offer tells the giver's work, messages more for it if anything is taken, and the targets of
// what may be handed over; the answer, which of them are taken.
bool SecondPhase::make(const std::vector<Offer>& offers) {
  for (const auto& [k, taker] : offers) {
    const SendSet& giver = members_[k].sending;
    std::vector<Word> words{giver.load(), giver.cost(taker)};
    for (const SendSet::Line& line : giver.lines())
      if (giver.alone(line) && line.target != taker) words.push_back(line.target);
    bsp_.send(k, taker, words);
  }
  bsp_.exchange();
  std::vector<std::tuple<std::size_t, std::int32_t, std::vector<Word>>> answers;
  for (std::size_t k : bsp_.receivers()) {
    for (const BspMessage& message : bsp_.inbox(k))
      answers.emplace_back(k, message.from, take(members_[k], message));
    note(k);
  }
  for (const auto& [k, giver, taken] : answers) bsp_.send(k, giver, taken);
  bsp_.exchange();
  bool any = false;
  for (std::size_t k : bsp_.receivers()) {
    Member& m = members_[k];
    for (const BspMessage& message : bsp_.inbox(k)) {
      m.failures = message.words.empty() ? m.failures + 1 : 0;
      any = any || !message.words.empty();
      for (Word target : message.words)
        m.sending.give(static_cast<std::int32_t>(target), message.from);
    }
    note(k);
  }
  return any;
}

// What it writes to anyway first. Not beyond the limit, and not so much that the giver would have
// less to do than this rank.
std::vector<Word> SecondPhase::take(Member& m, const BspMessage& offer) {
  std::vector<Word> targets(offer.words.begin() + 2, offer.words.end()), taken;
  std::erase(targets, Word{m.sending.rank()});
  const auto others = std::stable_partition(targets.begin(), targets.end(), [&](Word target) {
    return m.sending.writes(static_cast<std::int32_t>(target));
  });
  const Word cost = offer.words[1];
  Word giver = offer.words[0] + cost * work_.message, load = m.sending.load() + cost * work_.helped;
  for (auto target = targets.begin(); target != targets.end(); ++target) {
    const Word more = (target < others ? 0 : work_.message) + work_.passed;
    if (giver - work_.message < load + more || giver <= limit_ || load + more > limit_) break;
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
