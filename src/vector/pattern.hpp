// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of which ranks send which values to whom, found by asking.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"
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

// From begin to end, consecutive places in an array of the program.
struct PlaceRun {
  std::int64_t begin, end;
};

// Where values lie if the program has listed their places. Runs are ascending and have gaps between
// them; of `owned` they have what an exchange touches.
struct ListedPlaces {
  std::vector<PlaceRun> owned, ghosts;
  bool meet = false;  // some place is in both
};

struct VectorPattern {
  std::int64_t owned = 0;        // values that the program's array of own ones has room for
  std::int64_t ghost_count = 0;  // the same for needed ones
  std::vector<ValueCode> needs;  // of each needed index
  // slots needed here: 0, 1, ..., by where they first occur in needs
  std::int64_t ghosts = 0;
  std::int64_t slots = 0;  // all: the rest is only passed on
  // in the order in which requests travel; values go backwards, sums forwards. Each slot is got
  // once, before it is given
  std::vector<VectorStage> stages;
  std::vector<std::int64_t> ghost_places;  // of each needed index; empty: in the order of needs
  std::optional<ListedPlaces> listed = std::nullopt;
  std::optional<SeparateValues> separate = std::nullopt;  // of a planned route

  std::int64_t ghost_place(std::size_t need) const {
    return ghost_places.empty() ? static_cast<std::int64_t>(need) : ghost_places[need];
  }
};

// Both directions of a vector. Sums go back on the ways of values, unless they have ways of their
// own; then only the stages differ, and which slots are passed on.
struct VectorPatterns {
  VectorPattern values;
  std::optional<VectorPattern> sums = std::nullopt;

  const VectorPattern& of_sums() const { return sums ? *sums : values; }
};

// Collective. `bsp` has one rank per process. All indices are from 0 to ranges.size() - 1. Stages
// in which no rank does anything are left out.
VectorPattern discover(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own,
                       std::span<const std::int64_t> indices, const VectorRoute& route);

// Adds where values lie: places as in VectorPattern. Local.
void list_places(VectorPattern& pattern, std::vector<std::int64_t> ghost_places);

}  // namespace tonari
