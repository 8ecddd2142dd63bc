// SPDX-License-Identifier: BSD-3-Clause
// Describes what exchanges on a neighborhood are chosen for.
#pragma once

#include <span>
#include <utility>

#include "channels/table.hpp"
#include "engine/comm/context.hpp"
#include "neighborhood/sizes.hpp"

namespace tonari {

// Local; the context must outlive it. The sizes, and whether all blocks are contiguous, are the
// same on all ranks.
inline Problem problem_of(Context& context, Collective collective, Sizes sizes, bool contiguous) {
  return {context.planners(),
          context.topology().fingerprint,
          context.topology().neighbors,
          collective,
          std::move(sizes),
          contiguous,
          context.shares_memory(),
          context.reads_memory(),
          context.several_nodes(),
          all_channels(),
          [&context](std::span<double> prices) { raise_to_heaviest(context.comm(), prices); },
          [&context] { return std::span<const std::int32_t>(context.shared().node_of()); }};
}

}  // namespace tonari
