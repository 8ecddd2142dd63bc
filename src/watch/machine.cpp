// SPDX-License-Identifier: BSD-3-Clause
#include "watch/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>

namespace tonari::watch {
namespace {

using Cores = std::array<std::uint64_t, 64>;  // a bit for each of 4,096

Cores cores_of_this_process() {
  Cores mine{};
  (void)sched_getaffinity(0, sizeof(mine), reinterpret_cast<cpu_set_t*>(mine.data()));
  return mine;
}

}  // namespace

Node node_of(MPI_Comm comm) {
  Node node;
  MPI_Comm here = MPI_COMM_NULL;
  if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
    return node;
  PMPI_Comm_size(here, &node.ranks);
  const Cores mine = cores_of_this_process();
  Cores all = mine;
  PMPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_BOR,
                 here);
  for (const std::uint64_t word : all) node.cores += std::popcount(word);
  PMPI_Comm_free(&here);
  return node;
}

int waiting_for_processors() {
  std::FILE* const file = std::fopen("/proc/loadavg", "r");
  if (!file) return 0;
  int runnable = 0;
  const bool read = std::fscanf(file, "%*s %*s %*s %d/", &runnable) == 1;
  (void)std::fclose(file);
  return read ? std::max(0, runnable - static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))) : 0;
}

}  // namespace tonari::watch
