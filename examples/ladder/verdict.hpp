// SPDX-License-Identifier: BSD-3-Clause
// What the examples of this folder share: MPI's begin and end, and whether all ranks were right.
#pragma once
#include <cstdio>
#include <tonari/tonari.hpp>

// example(rank, ranks) says whether what arrived on this rank is right.
inline int verdict(int argc, char** argv, bool (*example)(int, int)) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, right = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    right = example(rank, ranks) ? 1 : 0;
  } catch (const tonari::Failure& failure) {  // on all ranks
    std::fprintf(stderr, "%s\n", failure.what());
  }
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", right ? "all ranks are right" : "WRONG");
  MPI_Finalize();
  return right ? 0 : 1;
}
