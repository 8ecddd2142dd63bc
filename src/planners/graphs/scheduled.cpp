// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/scheduled.hpp"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace tonari {
namespace {

using RankPair = std::pair<std::int32_t, std::int32_t>;  // origin, target

RankPair pair_of(const PairHop& hop) { return {hop.origin, hop.target}; }

// Follows the blocks that are at one rank.
class Checker {
 public:
  Checker(const Vertex& vertex, const std::string& name) : rank_(vertex.rank), name_(name) {
    for (const std::int32_t target : vertex.targets)
      if (target >= 0 && target != rank_) here_[{rank_, target}];
    for (const std::int32_t source : vertex.sources)
      if (source >= 0 && source != rank_) wanted_.insert(source);
  }

  void run(const OwnSchedule& own) {
    auto in = own.in.begin();
    for (const PairHop& hop : own.out) {
      for (; in != own.in.end() && in->stage < hop.stage; ++in) arrive(*in);
      leave(hop);
    }
    for (; in != own.in.end(); ++in) arrive(*in);
    check_end();
  }

 private:
  struct State {
    bool left = false;
  };

  template <class... Parts>
  [[noreturn]] void wrong(const RankPair& block, const Parts&... parts) const {
    fail(Errc::file, "the schedule '", name_, "' cannot be used: block ", block.first, "-",
         block.second, parts...);
  }

  void arrive(const PairHop& hop) {
    if (!here_.try_emplace(pair_of(hop)).second)
      wrong(pair_of(hop), " comes to rank ", rank_, " twice, from rank ", hop.from, " in stage ",
            hop.stage, " again");
  }

  void leave(const PairHop& hop) {
    const auto found = here_.find(pair_of(hop));
    if (found == here_.end() && hop.origin == rank_)
      wrong(pair_of(hop), " is not of the pattern: rank ", rank_, " does not send to rank ",
            hop.target);
    if (found == here_.end())
      wrong(pair_of(hop), " leaves rank ", rank_, " for rank ", hop.to, " in stage ", hop.stage,
            " without having come there in an earlier stage");
    if (std::exchange(found->second.left, true))
      wrong(pair_of(hop), " leaves rank ", rank_, " twice, for rank ", hop.to, " in stage ",
            hop.stage, " again");
  }

  void check_end() const {
    for (const auto& [block, state] : here_) {
      const bool at_target = block.second == rank_;
      if (at_target && !wanted_.contains(block.first))
        wrong(block, " is not of the pattern: rank ", rank_, " does not receive from rank ",
              block.first);
      if (!at_target && !state.left) wrong(block, " does not leave rank ", rank_);
    }
    for (const std::int32_t source : wanted_)
      if (!here_.contains({source, rank_}))
        wrong({source, rank_}, " does not come to rank ", rank_);
  }

  std::int32_t rank_;
  const std::string& name_;
  std::map<RankPair, State> here_;  // by now, or until it left
  std::set<std::int32_t> wanted_;   // ranks to receive from
};

// The blocks of each pair that begins, ends or passes at one rank, by their numbers at the origin.
using Numbers = std::map<RankPair, std::vector<std::uint32_t>>;

Numbers own_numbers(const Vertex& v) {
  Numbers numbers;
  for (std::uint32_t i = 0; i < v.targets.size(); ++i)
    if (v.targets[i] >= 0) numbers[{v.rank, v.targets[i]}].push_back(i);
  for (std::uint32_t j = 0; j < v.sources.size(); ++j)
    if (v.sources[j] >= 0 && v.sources[j] != v.rank)
      numbers[{v.sources[j], v.rank}].push_back(v.origins[j]);
  return numbers;
}

// Collective: ranks ask the origins of what they pass on. A question is a list of targets; an
// answer a list of target, how many blocks, and their numbers.
std::vector<Numbers> all_numbers(BspComm& bsp, std::span<const Vertex> vertices,
                                 std::span<const OwnSchedule> own) {
  std::vector<Numbers> all;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    Numbers& numbers = all.emplace_back(own_numbers(vertices[k]));
    std::map<std::int32_t, std::vector<Word>> questions;
    for (const PairHop& hop : own[k].in)
      if (numbers.try_emplace(pair_of(hop)).second) questions[hop.origin].push_back(hop.target);
    for (const auto& [origin, targets] : questions) bsp.send(k, origin, targets);
  }
  bsp.exchange();
  std::vector<std::tuple<std::size_t, std::int32_t, std::vector<Word>>> answers;
  for (const std::size_t k : bsp.receivers())
    for (const BspMessage& question : bsp.inbox(k)) {
      std::vector<Word> words;
      for (const Word target : question.words) {
        const auto& blocks = all[k].at({vertices[k].rank, static_cast<std::int32_t>(target)});
        words.insert(words.end(), {target, static_cast<Word>(blocks.size())});
        words.insert(words.end(), blocks.begin(), blocks.end());
      }
      answers.emplace_back(k, question.from, std::move(words));
    }
  for (const auto& [k, to, words] : answers) bsp.send(k, to, words);
  bsp.exchange();
  for (const std::size_t k : bsp.receivers())
    for (const BspMessage& answer : bsp.inbox(k))
      for (std::size_t w = 0; w < answer.words.size();) {
        auto& blocks = all[k][{answer.from, static_cast<std::int32_t>(answer.words[w])}];
        const auto count = static_cast<std::size_t>(answer.words[w + 1]);
        for (std::size_t b = w + 2; b < w + 2 + count; ++b)
          blocks.push_back(static_cast<std::uint32_t>(answer.words[b]));
        w += 2 + count;
      }
  return all;
}

std::vector<Relay> relays_of_pairs(BspComm& bsp, std::span<const Vertex> vertices,
                                   std::span<const OwnSchedule> own) {
  const std::vector<Numbers> numbers = all_numbers(bsp, vertices, own);
  std::vector<Relay> relays(vertices.size());
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    for (const PairHop& hop : own[k].out)
      for (const std::uint32_t block : numbers[k].at(pair_of(hop)))
        relays[k].out.push_back({hop.stage, hop.to, {hop.origin, block}});
    for (const PairHop& hop : own[k].in)
      for (const std::uint32_t block : numbers[k].at(pair_of(hop)))
        relays[k].in.push_back({hop.stage, hop.from, {hop.origin, block}});
  }
  return relays;
}

// The hops of an allgather at one rank.
class OneOfEachOrigin {
 public:
  OneOfEachOrigin(const Vertex& vertex, const OwnSchedule& own)
      : wanted_(vertex.sources.begin(), vertex.sources.end()) {
    for (const PairHop& hop : own.out) out_.insert({hop.stage, hop.to, {hop.origin, 0}});
    for (const PairHop& hop : own.in) in_.insert({hop.stage, hop.from, {hop.origin, 0}});
    for (const Hop& hop : out_) ++leaves_[hop.block.origin];
  }

  std::int32_t stages() const { return in_.empty() ? 0 : in_.rbegin()->stage + 1; }
  // Hops that need not come: all of an origin but the first; in one stage, that of the lowest rank.
  std::vector<Hop> drop_repeats() {
    std::set<std::int32_t> seen;
    return drop([&](const Hop& hop) { return !seen.insert(hop.block.origin).second; });
  }
  // Those of a stage. What leaves in later stages must be known.
  std::vector<Hop> drop_unneeded(std::int32_t stage) {
    return drop([&](const Hop& hop) {
      return hop.stage == stage && !wanted_.contains(hop.block.origin) &&
             leaves_[hop.block.origin] == 0;
    });
  }
  void do_not_send(const Hop& hop) { leaves_[hop.block.origin] -= out_.erase(hop); }

  Relay relay() const { return {{out_.begin(), out_.end()}, {in_.begin(), in_.end()}}; }

 private:
  template <class Drops>
  std::vector<Hop> drop(Drops drops) {
    std::vector<Hop> dropped;
    std::erase_if(in_, [&](const Hop& hop) {
      if (!drops(hop)) return false;
      dropped.push_back(hop);
      return true;
    });
    return dropped;
  }

  std::set<std::int32_t> wanted_;
  std::set<Hop> out_, in_;
  std::map<std::int32_t, std::size_t> leaves_;  // hops that leave, by origin
};

// Collective: tells the senders of these hops, one list per rank here, not to send.
void tell_senders(BspComm& bsp, std::vector<OneOfEachOrigin>& ranks,
                  std::span<const std::vector<Hop>> dropped) {
  for (std::size_t k = 0; k < ranks.size(); ++k)
    for (const Hop& hop : dropped[k])
      bsp.send(k, hop.peer, {Word{hop.stage}, Word{hop.block.origin}});
  bsp.exchange();
  for (const std::size_t k : bsp.receivers())
    for (const BspMessage& told : bsp.inbox(k))
      ranks[k].do_not_send({static_cast<std::int32_t>(told.words[0]),
                            told.from,
                            {static_cast<std::int32_t>(told.words[1]), 0}});
}

std::vector<Relay> relays_of_origins(BspComm& bsp, std::span<const Vertex> vertices,
                                     std::span<const OwnSchedule> own) {
  std::vector<OneOfEachOrigin> ranks;
  std::vector<std::vector<Hop>> dropped(vertices.size());
  Word stages = 0;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    ranks.emplace_back(vertices[k], own[k]);
    stages = std::max<Word>(stages, ranks.back().stages());
    dropped[k] = ranks.back().drop_repeats();
  }
  tell_senders(bsp, ranks, dropped);
  for (auto stage = static_cast<std::int32_t>(bsp.max(stages)); stage-- > 0;) {
    for (std::size_t k = 0; k < ranks.size(); ++k) dropped[k] = ranks[k].drop_unneeded(stage);
    tell_senders(bsp, ranks, dropped);
  }
  std::vector<Relay> relays;
  for (const OneOfEachOrigin& rank : ranks) relays.push_back(rank.relay());
  return relays;
}

// No row of the table of algorithms: a file is run where it is named, and nothing is planned.
const GraphPlanner scheduled{
    scheduled_name, [](const GraphFacts&, const GraphTask&) { return std::string(); }, nullptr};

}  // namespace

void check_schedule(const Vertex& vertex, const OwnSchedule& own, const std::string& name) {
  Checker(vertex, name).run(own);
}

GraphVariant scheduled_variant(BspComm& bsp, std::span<const Vertex> vertices,
                               std::span<const OwnSchedule> own, Collective collective) {
  std::vector<Relay> relays = collective == Collective::alltoall
                                  ? relays_of_pairs(bsp, vertices, own)
                                  : relays_of_origins(bsp, vertices, own);
  for (std::size_t k = 0; k < vertices.size(); ++k) stagger(vertices[k].rank, relays[k].out);
  GraphTask task;
  task.collective = collective;
  return {scheduled, "", vertices, task, std::move(relays)};
}

}  // namespace tonari
