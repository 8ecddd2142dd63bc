// SPDX-License-Identifier: BSD-3-Clause
// Chooses how a symmetric in-place exchange swaps its blocks: in which order and through what, or
// by the MPI's own collective.
//
// Candidates are timed in pairs of exchanges, since the second one puts every block back where it
// was. Copies of the blocks take part where all ranks may hold them (tonari_inplace_memory). Only
// there MPI's own collective is a candidate, because it must prove first that it delivers the right
// blocks, and because what it holds is not bounded. Where copies do not fit, tonari_tune=measure
// uses the program's own buffer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tune/contest.hpp"
#include "in_place/methods.hpp"
#include "in_place/native_swaps.hpp"

namespace tonari {

struct SwapProblem {
  std::vector<SwapBlock> blocks;
  TypedBlocks typed = {};                         // the same; only where something may be measured
  std::optional<SwapOrder> order = std::nullopt;  // none: any
  bool any_channel = true;                        // shared memory is not asked for
  Tune tune = Tune::off;
};

struct ChosenSwaps {
  std::unique_ptr<Exchange> exchange;
  std::string algorithm, channel;
  Decision decision;  // its details say all there is to say
};

// Collective, together on the context's communicator. All but the blocks, memory and timeout is the
// same on all ranks; what settings say of all ranks is filled in here. The exchange sends with the
// context's first tag. While it measures, each rank holds the copies, and what the exchanges hold
// in each of the ways.
ChosenSwaps choose_swaps(Context& context, SwapProblem problem, const SwapSettings& settings);

}  // namespace tonari
