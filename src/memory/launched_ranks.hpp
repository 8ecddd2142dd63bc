// SPDX-License-Identifier: BSD-3-Clause
// The processes of this node that one launcher started as ranks of one job, as their environment
// tells: for reports on ranks that have not said anything yet.
#pragma once

#include <cstdint>
#include <vector>

namespace tonari {

struct LaunchedRank {
  std::int32_t rank = 0;     // in MPI_COMM_WORLD
  std::int64_t process = 0;  // most likely
  // All that call themselves this rank: scripts that started it, too, and what it has started.
  std::vector<std::int64_t> all;
};

// Those of the job of this process, itself among them, by rank. Empty: the launcher does not tell.
// Looks at all processes of the node, so it takes some milliseconds.
std::vector<LaunchedRank> launched_ranks();

}  // namespace tonari
