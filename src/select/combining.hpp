// SPDX-License-Identifier: BSD-3-Clause
// Which one-shot calls combine blocks of several ranks into messages (ADR 50): a table that all
// ranks make alike, so that they take the same way without asking. Pure.
#pragma once

#include "base/checked.hpp"
#include "cost/loggp.hpp"
#include "select/planner_registry.hpp"

namespace tonari {

// What a rank knows of the block sizes of the others, where each rank sends blocks of one size and
// receives blocks of one size, and the two ends of every block agree.
enum class SizesElsewhere : std::uint8_t {
  unknown,
  equal,         // one size everywhere
  if_equal_here  // where this rank sends and receives the same size, all do
};
SizesElsewhere sizes_elsewhere(const Neighborhood& near);

// Calls of an operation with blocks of up to `most` bytes go by `variant`.
struct Combining {
  VariantPtr variant;  // null: none does
  Collective collective = Collective::alltoall;
  Bytes most = 0;
};

struct CombiningQuestion {
  const Neighborhood& near;
  Collective collective;
  const LogGP* machine;  // null: small blocks are combined, as Tune::off says
  std::size_t room;      // bytes of a message
  bool priced = true;    // up to where the model expects it to pay; else as long as there is room
};

// Of the variants that only send along edges of the neighborhood, the one that is predicted to be
// the fastest for short blocks.
Combining best_combining(PlannerRegistry& planners, const CombiningQuestion& question);

}  // namespace tonari
