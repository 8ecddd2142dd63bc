// SPDX-License-Identifier: BSD-3-Clause
// Draws a plan as text: the rounds of one rank, with what leaves, what arrives and what has to
// wait.
#pragma once

#include <functional>
#include <string>

#include "plan/plan.hpp"

namespace tonari {

struct PrintOptions {
  std::function<std::uint64_t(Slice)> bytes;  // size of a block; empty: sizes are not shown
  std::function<std::string(int peer)> peer;  // how to name a peer; empty: "rank 3"
  std::size_t most_blocks = 8;                // blocks named per message before "..."
};

// Stable text, one line per operation, grouped by level; used in golden tests.
std::string print(const Plan& plan, const PrintOptions& options = {});

}  // namespace tonari
