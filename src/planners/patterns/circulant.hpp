// SPDX-License-Identifier: BSD-3-Clause
// A mesh without a mesh, for patterns in which nearly all write to nearly all: in stage k every
// rank r writes to r + g, for all generators g of that stage, modulo the number of ranks.
//
//   generators   stage 0: {1, 2, 3}   stage 1: {4, 8, 12}      7 = 3 + 4: r ─▶ r + 3 ─▶ r + 7
//
// Store and forward on a full mesh is such a scheme, if a rank beyond an end is the one at the
// other: there the sums are the digits of a mixed radix. Free generators in more stages have more
// sums of two: m of them in n stages have m m (n - 1) / (2 n), a mesh of two dimensions m m / 4.
//
// Generators are searched for the pattern at hand. The cost of a set is the words of all blocks
// that lie d apart, times the fewest summands of d, over all d. One generator after the other is
// replaced at random, and kept unless it is worse by more than a threshold that falls to nothing
// (threshold accepting, Dueck and Scheuer 1990). The same pattern gives the same generators.
#pragma once

#include <optional>

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// A rank sends and receives at most `messages` in at most `stages`. Nothing if some block found no
// way. Time: some thousand times ranks * messages / 16.
std::optional<MessageSchedule> circulant(const CommunicationMatrix& matrix, int messages,
                                         int stages);

}  // namespace tonari
