// SPDX-License-Identifier: BSD-3-Clause
// The processes of this node that one launcher started as ranks of one job, as their environment
// tells: for reports on ranks that have not said anything yet.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace tonari {

// Which tell a process its rank: Open MPI's, those with PMIx, MPICH's and its relatives', Slurm's.
inline constexpr std::array<const char*, 4> rank_variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                           "PMI_RANK", "SLURM_PROCID"};
// The rank of this process; 0: its launcher does not tell.
inline int launched_rank() {
  for (const char* const name : rank_variables)
    if (const char* const rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

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
