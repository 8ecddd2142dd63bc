// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/value_ways.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tonari {
namespace {

// Works on values; sums are values of which time and all arrows are turned round.
class ValueWays {
 public:
  ValueWays(Flowing what, const CommunicationMatrix& matrix, const MessageSchedule& schedule)
      : what_(what),
        matrix_(matrix),
        stages_(schedule.stages()),
        hops_of_(matrix.blocks()),
        seen_(static_cast<std::size_t>(matrix.ranks()), nothing),
        needed_(seen_) {
    for (const CombinedMessage& m : schedule.messages())
      for (const BlockNumber b : schedule.blocks(m))
        hops_of_[b].push_back(turned({m.stage, m.from, m.to, 0}));
  }

  void add(std::uint32_t number, const NeededValue& value, std::vector<ValueHop>& hops) {
    const std::vector<ValueHop> first = first_arrivals(number, value);
    for (const std::int32_t target : value.targets) needed_[target] = number;
    for (auto hop = first.rbegin(); hop != first.rend(); ++hop)
      if (needed_[hop->to] == number) needed_[hop->from] = number, hops.push_back(turned(*hop));
  }

 private:
  ValueHop turned(ValueHop hop) const {
    if (what_ == Flowing::values) return hop;
    return {stages_ - 1 - hop.stage, hop.to, hop.from, hop.value};
  }

  BlockNumber block_of(const NeededValue& value, std::int32_t target) const {
    const bool forward = what_ == Flowing::values;
    const std::int32_t from = forward ? value.owner : target, to = forward ? target : value.owner;
    const BlockNumber block = matrix_.find(from, to);
    if (block == CommunicationMatrix::none)
      fail(Errc::argument, "a value goes from rank ", from, " to rank ", to,
           ", but the matrix has no such block");
    return block;
  }

  // In the order of stages; in one stage, that of the lowest sender.
  std::vector<ValueHop> first_arrivals(std::uint32_t number, const NeededValue& value) {
    std::vector<ValueHop> hops;
    for (const std::int32_t target : value.targets)
      if (target != value.owner)
        for (const ValueHop& hop : hops_of_[block_of(value, target)])
          hops.push_back({hop.stage, hop.from, hop.to, number});
    std::ranges::sort(hops);
    seen_[value.owner] = number;
    std::erase_if(
        hops, [&](const ValueHop& hop) { return std::exchange(seen_[hop.to], number) == number; });
    return hops;
  }

  const Flowing what_;
  const CommunicationMatrix& matrix_;
  const std::int32_t stages_;
  std::vector<std::vector<ValueHop>> hops_of_;  // by block
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  std::vector<std::uint32_t> seen_, needed_;  // by rank: the last value that was there, is needed
};

}  // namespace

CommunicationMatrix matrix_of(Flowing what, int ranks, std::span<const NeededValue> values) {
  std::vector<Flow> flows;
  for (const NeededValue& value : values)
    for (const std::int32_t target : value.targets)
      flows.push_back(what == Flowing::values ? Flow{value.owner, target, 1}
                                              : Flow{target, value.owner, 1});
  return CommunicationMatrix(ranks, flows);
}

std::vector<ValueHop> value_ways(Flowing what, const CommunicationMatrix& matrix,
                                 const MessageSchedule& schedule,
                                 std::span<const NeededValue> values) {
  ValueWays ways(what, matrix, schedule);
  std::vector<ValueHop> hops;
  for (std::uint32_t v = 0; v < values.size(); ++v) ways.add(v, values[v], hops);
  std::ranges::sort(hops);
  return hops;
}

}  // namespace tonari
