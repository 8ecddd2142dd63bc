// SPDX-License-Identifier: BSD-3-Clause
// How values go along the messages of a schedule, where ranks know which blocks have values in
// common: what a rank needs of another one is a block, and a value may be in several of them.
//
//   Forward   A value takes the hops of its blocks, but for these: it comes to a rank once, the
//             first time, and not at all where nobody needs it any more.
//   Sums      The same, seen backwards: a rank adds what comes to what it has, and passes on one
//             sum, with the last message that carries a part of it.
//
//   stage 0   a ─▶ h   blocks a-h, a-t        a value of both goes to h once
//   stage 1   h ─▶ t   block  a-t
//
// So the hops of a value are a tree. Neither messages nor words grow. A message is left out if all
// its values go by others. Ranks find the same ways by messages (vector/planned_route.hpp).
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

struct NeededValue {
  std::int32_t owner;
  // the ranks that need it, or contribute to its sum; the owner counts for nothing
  std::vector<std::int32_t> targets;
};

// One value, or one sum, on its way.
struct ValueHop {
  std::int32_t stage, from, to;
  std::uint32_t value;  // its number
  friend auto operator<=>(const ValueHop&, const ValueHop&) = default;
};

enum class Flowing : std::uint8_t { values, sums };  // from owners, to owners

// What ranks have for each other if nothing is added: words are values.
CommunicationMatrix matrix_of(Flowing what, int ranks, std::span<const NeededValue> values);

// Ascending. matrix: that of these values; schedule: one of this matrix. Throws Errc::argument if
// the matrix lacks a block.
std::vector<ValueHop> value_ways(Flowing what, const CommunicationMatrix& matrix,
                                 const MessageSchedule& schedule,
                                 std::span<const NeededValue> values);

}  // namespace tonari
