// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/swap_schedule.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "cost/effort.hpp"
#include "simulate/machine.hpp"
#include "simulate/schedule_builder.hpp"

namespace tonari::sim {
namespace {

using Id = std::uint32_t;

// The steps of a swap in their order: three of a short block, all of a long one.
enum Part : Id { copy, send, recv, say_ready, hear_ready, most_parts };

struct Steps {
  Id parts;
  Id of(Id swap, Part part) const { return parts * swap + part; }
};

// [rank][k]: whom it swaps with
std::vector<std::vector<std::int32_t>> all_partners(SwapOrder order, Id ranks) {
  std::vector<std::vector<std::int32_t>> all;
  const auto count = static_cast<std::int32_t>(ranks);
  for (std::int32_t rank = 0; rank < count; ++rank) {
    all.push_back(partners(order, rank, count));
    std::erase(all.back(), rank);
  }
  return all;
}

// [rank * ranks + other]: which of its swaps that is
std::vector<Id> places(const std::vector<std::vector<std::int32_t>>& partners_of) {
  const std::size_t ranks = partners_of.size();
  std::vector<Id> places(ranks * ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t k = 0; k < partners_of[rank].size(); ++k)
      places[rank * ranks + static_cast<std::size_t>(partners_of[rank][k])] = static_cast<Id>(k);
  return places;
}

// Within a swap, from one to the next, and after those whose memory serves again.
void require_order(ScheduleBuilder& builder, const Steps& step, Id swaps, std::uint64_t at_a_time) {
  for (Id k = 0; k < swaps; ++k) {
    const Id copied = step.of(k, copy);
    builder.require(step.of(k, send), copied);
    builder.require(step.of(k, recv), copied);
    if (step.parts == most_parts) {
      builder.require(step.of(k, say_ready), copied);
      builder.require(step.of(k, hear_ready), copied);
      builder.require(step.of(k, send), step.of(k, hear_ready));
    }
    const Part first_sent = step.parts == most_parts ? say_ready : send;
    if (k > 0) builder.require(copied, step.of(k - 1, first_sent), true);
    if (k < at_a_time) continue;
    const Id before = k - static_cast<Id>(at_a_time);
    builder.require(copied, step.of(before, send));
    builder.require(copied, step.of(before, recv));
  }
}

}  // namespace

Schedule swap_schedule(SwapOrder order, std::uint32_t ranks, std::uint64_t block_bytes,
                       std::uint64_t memory, const LogGP& machine) {
  if (ranks == 0 || block_bytes == 0)
    fail(Errc::argument, "an exchange in place needs a rank and blocks of a byte at least");
  const Ticks copies = to_ticks(machine.copy_block + machine.copy_byte * units(block_bytes));
  const bool is_long = block_bytes > machine.eager;
  const Steps step{is_long ? Id{most_parts} : Id{say_ready}};
  const auto partners_of = all_partners(order, ranks);
  const std::vector<Id> place = places(partners_of);
  ScheduleBuilder builder;
  for (Id rank = 0; rank < ranks; ++rank) {
    for (Id k = 0; k + 1 < ranks; ++k) {
      const auto other = static_cast<Id>(partners_of[rank][k]);
      const Id theirs = place[std::size_t{other} * ranks + rank];
      builder.add(Act::calc, copies);
      builder.add(Act::send, block_bytes, other, step.of(theirs, recv));
      builder.add(Act::recv, block_bytes, other, step.of(theirs, send));
      if (!is_long) continue;
      builder.add(Act::send, 0, other, step.of(theirs, hear_ready));
      builder.add(Act::recv, 0, other, step.of(theirs, say_ready));
    }
    require_order(builder, step, ranks - 1, std::max<std::uint64_t>(memory / block_bytes, 1));
    builder.end_rank();
  }
  return builder.take();
}

}  // namespace tonari::sim
