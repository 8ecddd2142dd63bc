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
// Where all ranks write in the same stages, 2^m ranks are in reach at most, and few of them in few
// hops. So ranks may be of several kinds: of k of them, rank r is of the kind r modulo k. Each kind
// has m generators of its own, in stages of its own, and m that lead to it:
//
//   kind 0   ──▶ 1                 ──▶ 1
//   kind 1            ──▶ 2, ──▶ 3            what a rank gets it passes on soon after
//
// Generators are searched for the pattern at hand. The cost of a set is the words of all blocks
// that lie d apart, times the fewest summands of d, over all d and kinds. One generator after the
// other is replaced at random, and kept unless it is worse by more than a threshold that falls to
// nothing (threshold accepting, Dueck and Scheuer 1990). The same pattern gives the same
// generators.
#pragma once

#include <optional>

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

struct CirculantShape {
  int stages;        // at most
  int kinds = 1;     // of ranks; must divide their number
  int steps = 4000;  // of the search
  // relative to direct; the search ends once there are no more, with nothing if there are far more;
  // 0: as few as it finds
  double words = 0;
};
constexpr int most_kinds = 16;

// A rank sends and receives at most `messages`. Nothing if some block found no way, or the ranks
// are not so many times something. Time: steps times kinds * ranks * messages / 16.
std::optional<MessageSchedule> circulant(const CommunicationMatrix& matrix, int messages,
                                         const CirculantShape& shape);

}  // namespace tonari
