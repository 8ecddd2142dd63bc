// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/planning_root.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace tonari {
namespace {

struct Sent {
  std::int32_t from, to;
  BlockId block;
  std::uint64_t words;
  friend auto operator<=>(const Sent&, const Sent&) = default;
};

// The movement of one block, seen from above.
struct Step {
  std::int32_t stage, from, to;
  BlockId block;
};

CommunicationMatrix matrix_of(int ranks, std::span<const Sent> sent) {
  std::vector<Flow> flows;
  for (const Sent& s : sent) flows.push_back({s.from, s.to, s.words});
  return CommunicationMatrix(ranks, flows);
}

// An entry of the matrix is all blocks of one pair of ranks; `sent`, sorted, has them in the order
// of the entries.
std::vector<Step> steps_of(const MessageSchedule& schedule, const CommunicationMatrix& matrix,
                           std::span<const Sent> sent) {
  std::vector<std::size_t> first(matrix.blocks() + 1, sent.size());
  for (std::size_t s = sent.size(), b = matrix.blocks(); s-- > 0;) {
    if (s + 1 == sent.size() || sent[s].from != sent[s + 1].from || sent[s].to != sent[s + 1].to)
      --b;
    first[b] = s;
  }
  std::vector<Step> steps;
  for (const CombinedMessage& m : schedule.messages())
    for (BlockNumber b : schedule.blocks(m))
      for (std::size_t s = first[b]; s < first[b + 1]; ++s)
        steps.push_back({m.stage, m.from, m.to, sent[s].block});
  return steps;
}

// The planners take an allgather's block for another one per target. It comes to a rank once, the
// first time; and not at all where nobody needs it any more.
class OneOfEach {
 public:
  OneOfEach(int ranks, std::span<const Sent> sent)
      : sent_(sent), seen_(static_cast<std::size_t>(ranks), -1), needed_(seen_) {}

  std::vector<Step> keep(std::vector<Step> steps) {
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::pair(a.block.origin, a.stage) < std::pair(b.block.origin, b.stage);
    });
    std::vector<Step> kept;
    for (auto begin = steps.begin(); begin != steps.end();) {
      const auto end =
          std::find_if(begin, steps.end(), [&](const Step& s) { return s.block != begin->block; });
      keep_of_one({begin, end}, kept);
      begin = end;
    }
    return kept;
  }

 private:
  void keep_of_one(std::span<const Step> steps, std::vector<Step>& kept) {
    const std::int32_t origin = steps.front().block.origin;
    std::vector<Step> first;
    seen_[origin] = origin;
    for (const Step& s : steps)
      if (std::exchange(seen_[s.to], origin) != origin) first.push_back(s);
    const auto own =
        std::lower_bound(sent_.begin(), sent_.end(), origin,
                         [](const Sent& s, std::int32_t from) { return s.from < from; });
    for (auto s = own; s != sent_.end() && s->from == origin; ++s) needed_[s->to] = origin;
    for (auto s = first.rbegin(); s != first.rend(); ++s)
      if (needed_[s->to] == origin) needed_[s->from] = origin, kept.push_back(*s);
  }

  std::span<const Sent> sent_;
  // by rank: the last origin whose block was there, is needed there
  std::vector<std::int32_t> seen_, needed_;
};

// A message to a root: its number, then target, origin's block and its words. To the root's ranks:
// its number, then stage, peer, origin, block, first what leaves, a -1, then what comes.
class PlanningRoots {
 public:
  PlanningRoots(BspComm& bsp, Collective collective, bool sized,
                std::span<const RootPlanner> planners)
      : bsp_(bsp),
        collective_(collective),
        sized_(sized),
        planners_(planners),
        relays_(planners.size(), std::vector<Relay>(bsp.here().size())) {}

  std::vector<std::vector<Relay>> run(std::span<const Vertex> vertices,
                                      const std::vector<Relay>& direct) {
    ask(vertices, direct);
    std::vector<std::vector<Sent>> patterns(planners_.size());  // of roots that are here
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k))
        read(message, patterns[static_cast<std::size_t>(message.words[0])]);
    enum Failure : Word { none, memory, other };
    Word failed = none;
    try {
      for (std::size_t j = 0; j < planners_.size(); ++j)
        if (!patterns[j].empty()) answer(j, std::move(patterns[j]));
    } catch (const std::bad_alloc&) {
      failed = memory;
    } catch (const std::exception&) {
      failed = other;
    }
    failed = bsp_.max(failed);
    bsp_.exchange();  // also then, so that no message is left for the next planner
    if (failed == memory)
      fail(Errc::memory, "a rank that plans the whole pattern for all is out of memory");
    if (failed != none) fail(Errc::internal, "a rank could not plan the whole pattern for all");
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k)) hear(k, message.words);
    return std::move(relays_);
  }

 private:
  std::int32_t root(std::size_t j) const {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(j) * bsp_.ranks() /
                                     static_cast<std::int64_t>(planners_.size()));
  }

  void ask(std::span<const Vertex> vertices, const std::vector<Relay>& direct) {
    for (std::size_t k = 0; k < direct.size(); ++k) {
      const OwnBytes bytes(vertices[k], collective_);
      std::vector<Word> words{0};
      for (const Hop& hop : direct[k].out)
        words.insert(words.end(), {hop.peer, Word{hop.block.block},
                                   sized_ ? static_cast<Word>(bytes(hop.block.block)) : Word{1}});
      if (words.size() == 1) continue;
      for (std::size_t j = 0; j < planners_.size(); ++j)
        words[0] = static_cast<Word>(j), bsp_.send(k, root(j), words);
    }
    bsp_.exchange();
  }

  static void read(const BspMessage& message, std::vector<Sent>& pattern) {
    for (std::size_t w = 1; w < message.words.size(); w += 3)
      pattern.push_back({message.from,
                         static_cast<std::int32_t>(message.words[w]),
                         {message.from, static_cast<std::uint32_t>(message.words[w + 1])},
                         static_cast<std::uint64_t>(message.words[w + 2])});
  }

  void answer(std::size_t j, std::vector<Sent> sent) {
    std::sort(sent.begin(), sent.end());
    const CommunicationMatrix matrix = matrix_of(bsp_.ranks(), sent);
    std::vector<Step> steps = steps_of(planners_[j].plan(matrix), matrix, sent);
    if (collective_ == Collective::allgather)
      steps = OneOfEach(bsp_.ranks(), sent).keep(std::move(steps));
    std::vector<std::vector<Word>> out(static_cast<std::size_t>(bsp_.ranks())), in(out.size());
    for (const Step& s : steps) {
      out[s.from].insert(out[s.from].end(), {s.stage, s.to, s.block.origin, Word{s.block.block}});
      in[s.to].insert(in[s.to].end(), {s.stage, s.from, s.block.origin, Word{s.block.block}});
    }
    const std::int32_t here = root(j);
    const auto k = static_cast<std::size_t>(
        std::lower_bound(bsp_.here().begin(), bsp_.here().end(), here) - bsp_.here().begin());
    std::vector<Word> words;
    for (std::int32_t r = 0; r < bsp_.ranks(); ++r) {
      if (out[r].empty() && in[r].empty()) continue;
      words.assign(1, static_cast<Word>(j));
      words.insert(words.end(), out[r].begin(), out[r].end());
      words.push_back(-1);
      words.insert(words.end(), in[r].begin(), in[r].end());
      bsp_.send(k, r, words);
    }
  }

  void hear(std::size_t k, std::span<const Word> words) {
    Relay& relay = relays_[static_cast<std::size_t>(words[0])][k];
    std::vector<Hop>* hops = &relay.out;
    for (std::size_t w = 1; w < words.size();) {
      if (words[w] < 0) {
        hops = &relay.in;
        ++w;
        continue;
      }
      hops->push_back(
          {static_cast<std::int32_t>(words[w]),
           static_cast<std::int32_t>(words[w + 1]),
           {static_cast<std::int32_t>(words[w + 2]), static_cast<std::uint32_t>(words[w + 3])}});
      w += 4;
    }
    stagger(bsp_.here()[k], relay.out);
  }

  BspComm& bsp_;
  Collective collective_;
  bool sized_;
  std::span<const RootPlanner> planners_;
  std::vector<std::vector<Relay>> relays_;  // per planner and rank here
};

}  // namespace

bool fits_a_root(const GraphFacts& facts, Asked asked) {
  return facts.edges <= (asked == Asked::by_name ? most_named_blocks : most_root_blocks) &&
         facts.ranks <= most_root_ranks;
}

std::string too_large_for_a_root(const GraphFacts& facts) {
  if (fits_a_root(facts, Asked::by_name)) return "";
  return text("one rank plans the whole pattern for all, which may have ", most_named_blocks,
              " blocks and ", most_root_ranks, " ranks; this one has ", facts.edges, " and ",
              facts.ranks);
}

double root_words(double bytes, const GraphFacts& facts, const GraphTask& task) {
  if (facts.sized) return bytes;
  return task.block_bytes > 0 ? bytes / task.block_bytes : std::numeric_limits<double>::infinity();
}

std::vector<std::vector<Relay>> plan_at_roots(BspComm& bsp, std::span<const Vertex> vertices,
                                              const GraphFacts& facts, const GraphTask& task,
                                              std::span<const RootPlanner> planners) {
  return PlanningRoots(bsp, task.collective, facts.sized, planners)
      .run(vertices, graph_linear.variants(bsp, vertices, facts, task).front().relays());
}

}  // namespace tonari
