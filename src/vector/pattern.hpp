// One rank's part of which ranks send which values to whom, found by asking.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planners/graphs/rank_group.hpp"
#include "vector/owned_ranges.hpp"
#include "vector/route.hpp"

namespace tonari {

// Values on this rank have codes: i >= 0 is own value i (index first + i), ~s is slot s, which
// holds the value of an index of others.
using ValueCode = std::int64_t;

struct VectorMessage {
  std::int32_t peer;
  std::vector<ValueCode> values;
};

// A hop, forward: what this rank gets, and what it gives. Peers ascending.
struct VectorStage {
  std::vector<VectorMessage> gets, gives;
};

struct VectorPattern {
  std::int64_t owned = 0;
  std::vector<ValueCode> needs;  // of each needed index
  // slots needed here: 0, 1, ..., by where they first occur in needs
  std::int64_t ghosts = 0;
  std::int64_t slots = 0;  // all: the rest is only passed on
  // in the order in which requests travel; values go backwards, sums forwards. Each slot is got
  // once, before it is given
  std::vector<VectorStage> stages;
};

// Collective. `group` has one rank per process. All indices are from 0 to ranges.size() - 1. Stages
// in which no rank does anything are left out.
VectorPattern discover(RankGroup& group, const OwnedRanges& ranges, OwnedRange own,
                       std::span<const std::int64_t> indices, const VectorRoute& route);

}  // namespace tonari
