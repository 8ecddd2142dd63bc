// SPDX-License-Identifier: BSD-3-Clause
// The steps of an exchange of values, compiled once from a pattern, for requests with any buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cells/direction.hpp"
#include "vector/index_list.hpp"
#include "vector/pattern.hpp"

namespace tonari {

// The values that go to a peer, or come from it, in one message.
struct VectorPart {
  std::int32_t peer;
  IndexList places;
  // where it begins in the buffers, in indices; -1: it is sent from, or received into, its places
  std::int64_t buffer = -1;
};

struct VectorStep {
  // peers ascending: results do not depend on what arrives first
  std::vector<VectorPart> send, receive;
};

// Values that go from one place to another on this rank, in this order: runs of values side by
// side, at regular distances, as the rows of a box are.
struct LocalMove {
  ValuePlace from, to;  // of the first run
  std::int64_t count;   // of a run
  std::int64_t runs = 1, from_step = 0, to_step = 0;
};

struct VectorProgram {
  std::vector<LocalMove> first;  // before anything is sent
  std::vector<VectorStep> steps;
  std::vector<LocalMove> meanwhile;  // while the first step is under way
  std::vector<LocalMove> last;
  std::int64_t scratch = 0, buffers = 0;  // indices
};

enum class Buffering : std::uint8_t {
  straight,  // values that lie regularly are sent from, or received into, their places
  copied,    // all are copied, so an exchange is not bound to the program's buffers
  // copied, and owned values and ghosts may have places in common: what is sent is what was there
  // at start
  in_place
};
constexpr std::size_t bufferings = 3;

// Forward, a slot that is needed here lives in ghosts where it is needed first, others in scratch.
// Reverse, a contribution is sent from ghosts if it is the only one; else contributions are
// combined in scratch, the first of them setting the value: no operation needs a neutral element.
// In place, hops in between must not find values that arrived early: all slots live in scratch.
// To combine is to go back, and then forward with the results: no place is owned and ghost then.
VectorProgram compile_vector(const VectorPatterns& patterns, Direction direction,
                             Buffering buffering);

}  // namespace tonari
