// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/rebalanced.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tonari {
namespace {

using Index = std::uint32_t;

constexpr Index nothing = ~Index{0};
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();

std::size_t rounded_up(std::size_t messages, std::size_t ranks) {
  return (messages + ranks - 1) / ranks;
}

struct Leg {
  BlockHop hop;
  Index before, after;  // of the same block
};

struct Message {
  std::int32_t to, stage;
  std::vector<Index> legs;
};

// A block by way of a helper.
struct Detour {
  Index leg;
  std::int32_t helper, to_helper, from_helper;  // stages
};

class Rebalancer {
 public:
  Rebalancer(const CommunicationMatrix& matrix, const MessageSchedule& schedule)
      : matrix_(matrix),
        messages_(static_cast<std::size_t>(matrix.ranks())),
        first_(matrix.blocks(), nothing),
        total_(schedule.messages().size()),
        asked_(messages_.size(), 0) {
    std::vector<Index> last(matrix.blocks(), nothing);
    for (const CombinedMessage& m : schedule.messages()) {
      Message& message = messages_[m.from].emplace_back(Message{m.to, m.stage, {}});
      for (BlockNumber b : schedule.blocks(m)) {
        const auto here = static_cast<Index>(legs_.size());
        (last[b] == nothing ? first_[b] : legs_[last[b]].after) = here;
        legs_.push_back({{m.stage, m.from, m.to, b}, last[b], nothing});
        message.legs.push_back(here);
        last[b] = here;
      }
    }
    for (auto& of_rank : messages_) std::sort(of_rank.begin(), of_rank.end(), in_order);
  }

  void run() {
    for (int depth = 0; depth <= most_depth; ++depth)
      for (std::int32_t r = 0; r < matrix_.ranks(); ++r)
        while (sent(r) > average() && looks_ < most_looks()) {
          ++asking_;
          if (!make_room(r, depth)) break;
        }
  }

  MessageSchedule schedule() const {
    std::vector<BlockHop> hops;
    hops.reserve(legs_.size());
    for (Index first : first_)
      for (Index leg = first; leg != nothing; leg = legs_[leg].after)
        hops.push_back(legs_[leg].hop);
    return MessageSchedule(matrix_, std::move(hops));
  }

 private:
  // ranks on the way to room, messages of one of them
  static constexpr int most_depth = 3, most_tried = 64;

  static bool in_order(const Message& a, const Message& b) {
    return a.to != b.to ? a.to < b.to : a.stage < b.stage;
  }

  std::size_t sent(std::int32_t rank) const { return messages_[rank].size(); }
  std::uint64_t most_looks() const { return 4 * legs_.size() + (1 << 18); }
  std::size_t average() const { return rounded_up(total_, messages_.size()); }

  // -1: it starts here
  std::int32_t arrives(Index leg) const {
    return legs_[leg].before == nothing ? -1 : legs_[legs_[leg].before].hop.stage;
  }
  std::int32_t passed_on(Index leg) const {
    return legs_[leg].after == nothing ? never : legs_[legs_[leg].after].hop.stage;
  }

  bool passes(Index leg, std::int32_t rank) const {
    for (Index k = leg; k != nothing; k = legs_[k].before)
      if (legs_[k].hop.from == rank) return true;
    for (Index k = leg; k != nothing; k = legs_[k].after)
      if (legs_[k].hop.to == rank) return true;
    return false;
  }

  // The first message between two ranks in a stage after one and before another, or `never`.
  std::int32_t stage_between(std::int32_t from, std::int32_t to, std::int32_t after,
                             std::int32_t before) const {
    const auto& of_rank = messages_[from];
    const auto m =
        std::lower_bound(of_rank.begin(), of_rank.end(), Message{to, after + 1, {}}, in_order);
    return m != of_rank.end() && m->to == to && m->stage < before ? m->stage : never;
  }

  // Where no rank that it writes to has room, the first of them that finds some farther on.
  bool make_room(std::int32_t rank, int depth) {
    if (hand_on(rank)) return true;
    if (depth == 0 || looks_ > most_looks()) return false;
    std::vector<std::int32_t> helpers;
    for (const Message& m : messages_[rank])
      if (sent(m.to) == average() && asked_[m.to] != asking_) helpers.push_back(m.to);
    for (std::int32_t helper : helpers) {
      asked_[helper] = asking_;
      if (make_room(helper, depth - 1) && hand_on(rank)) return true;
    }
    return false;
  }

  // One message less. The one with the fewest words that can go, as all of them make one hop more.
  bool hand_on(std::int32_t rank) {
    const auto& mine = messages_[rank];
    std::vector<std::uint64_t> words(mine.size(), 0);
    for (std::size_t m = 0; m < mine.size(); ++m)
      for (Index leg : mine[m].legs) words[m] += matrix_.words(legs_[leg].hop.block);
    std::vector<Index> order(mine.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return words[a] < words[b]; });
    const auto end = order.begin() + std::min<std::ptrdiff_t>(most_tried, std::ssize(order));
    return std::any_of(order.begin(), end, [&](Index m) { return take_over(rank, m); });
  }

  // Blocks go where messages are anyway, each over a helper of its own; those that cannot, together
  // over a rank that sends little.
  bool take_over(std::int32_t rank, Index m) {
    std::vector<Detour> ways;
    std::vector<Index> rest;
    for (Index leg : messages_[rank][m].legs)
      if (!free_way(leg, ways)) rest.push_back(leg);
    if (!rest.empty() && !new_way(rank, rest, ways)) return false;
    messages_[rank].erase(messages_[rank].begin() + m);
    --total_;
    for (const Detour& way : ways) reroute(way);
    return true;
  }

  bool free_way(Index leg, std::vector<Detour>& ways) {
    const BlockHop& hop = legs_[leg].hop;
    looks_ += messages_[hop.from].size();
    for (const Message& to_helper : messages_[hop.from]) {
      if (to_helper.stage <= arrives(leg) || to_helper.stage + 1 >= passed_on(leg) ||
          passes(leg, to_helper.to))
        continue;
      const std::int32_t onward =
          stage_between(to_helper.to, hop.to, to_helper.stage, passed_on(leg));
      if (onward == never) continue;
      ways.push_back({leg, to_helper.to, to_helper.stage, onward});
      return true;
    }
    return false;
  }

  // By way of the rank that sends the fewest messages, of those that are not lifted above the
  // average.
  bool new_way(std::int32_t from, const std::vector<Index>& legs, std::vector<Detour>& ways) {
    std::vector<Detour> best, tried;
    looks_ += messages_[from].size();
    for (const Message& message : messages_[from]) {
      const std::int32_t helper = message.to;
      if (sent(helper) >= (best.empty() ? average() : sent(best.front().helper))) continue;
      std::int32_t last = -1, before = never;
      tried.clear();
      looks_ += legs.size();
      for (Index leg : legs) {
        const std::int32_t stage =
            passes(leg, helper) ? never : stage_between(from, helper, arrives(leg), never);
        tried.push_back({leg, helper, stage, 0});
        last = std::max(last, stage);
        before = std::min(before, passed_on(leg));
      }
      if (last == never || last + 1 >= before) continue;
      for (Detour& way : tried) way.from_helper = last + 1;
      best.swap(tried);
    }
    ways.insert(ways.end(), best.begin(), best.end());
    return !best.empty();
  }

  void reroute(const Detour& way) {
    const auto second = static_cast<Index>(legs_.size());
    legs_.push_back({{way.from_helper, way.helper, legs_[way.leg].hop.to, legs_[way.leg].hop.block},
                     way.leg,
                     legs_[way.leg].after});
    if (legs_[way.leg].after != nothing) legs_[legs_[way.leg].after].before = second;
    legs_[way.leg].after = second;
    legs_[way.leg].hop.to = way.helper;
    legs_[way.leg].hop.stage = way.to_helper;
    for (Index leg : {way.leg, second}) load(leg);
  }

  void load(Index leg) {
    const BlockHop& hop = legs_[leg].hop;
    auto& of_rank = messages_[hop.from];
    auto message =
        std::lower_bound(of_rank.begin(), of_rank.end(), Message{hop.to, hop.stage, {}}, in_order);
    if (message == of_rank.end() || message->to != hop.to || message->stage != hop.stage) {
      message = of_rank.insert(message, {hop.to, hop.stage, {}});
      ++total_;
    }
    message->legs.push_back(leg);
  }

  const CommunicationMatrix& matrix_;
  std::vector<Leg> legs_;
  std::vector<std::vector<Message>> messages_;  // by rank that sends, in_order
  std::vector<Index> first_;                    // leg of a block
  std::size_t total_;                           // messages
  std::vector<std::uint32_t> asked_;            // by rank: in which search
  std::uint32_t asking_ = 0;
  std::uint64_t looks_ = 0;  // at a way for a block: what takes the time
};

}  // namespace

MessageSchedule rebalanced(const CommunicationMatrix& matrix, MessageSchedule schedule) {
  std::vector<std::size_t> sent(static_cast<std::size_t>(matrix.ranks()), 0);
  for (const CombinedMessage& m : schedule.messages()) ++sent[m.from];
  if (sent.empty()) return schedule;
  const std::size_t most = *std::max_element(sent.begin(), sent.end()),
                    average = rounded_up(schedule.messages().size(), sent.size());
  if (most <= average || most > average + std::max<std::size_t>(2, average / 8)) return schedule;
  Rebalancer rebalancer(matrix, schedule);
  rebalancer.run();
  return rebalancer.schedule();
}

}  // namespace tonari
