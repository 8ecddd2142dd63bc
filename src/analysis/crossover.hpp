// SPDX-License-Identifier: BSD-3-Clause
// A shortcut beside the simulator: where one plan stops being faster than another, without a
// simulation of every size. It looks at powers of two up to 1 GiB, then bisects. So it finds the
// size that trying all sizes would find, where there is one; of several (around the eager size) it
// finds one of the first.
#pragma once

#include <cstdint>
#include <span>

#include "cost/links.hpp"
#include "plan/plan.hpp"

namespace tonari {

// The block size in bytes from which `plans` are no longer predicted to be faster than `reference`
// (usually linear). Messages are packed, and all blocks have one size. 0 means never faster, -1
// always faster (up to 1 GiB). Both are of the same collective: of all ranks, or of one interior
// rank that stands for all, as in simulate().
std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LinkCosts& links);
std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LogGP& machine);

}  // namespace tonari
