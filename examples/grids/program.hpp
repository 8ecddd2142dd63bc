// SPDX-License-Identifier: BSD-3-Clause
// What the examples with grids have in common: a periodic grid of ranks, threads, and an end that
// says what went wrong.
#pragma once

#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "options.hpp"

// Ranks on a periodic grid of three dimensions.
class Ranks {
 public:
  Ranks() {
    int count = 0;
    std::array<int, 3> periodic{1, 1, 1};
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Dims_create(count, 3, dims.data());
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims.data(), periodic.data(), 0, &cart);
    MPI_Cart_get(cart, 3, dims.data(), periodic.data(), me.data());
    root = me == std::array<int, 3>{};
  }
  ~Ranks() { MPI_Comm_free(&cart); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  template <class T>
  T all(T value, MPI_Datatype type, MPI_Op op) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, op, cart);
    return value;
  }
  double max(double value) const { return all(value, MPI_DOUBLE, MPI_MAX); }
  double sum(double value) const { return all(value, MPI_DOUBLE, MPI_SUM); }
  bool every(bool mine) const { return all<int>(mine, MPI_INT, MPI_LAND) != 0; }

  MPI_Comm cart = MPI_COMM_NULL;
  std::array<int, 3> dims{}, me{};
  bool root = false;
};

inline void use_threads([[maybe_unused]] int count) {
#ifdef _OPENMP
  if (count > 0) omp_set_num_threads(count);
#endif
}
inline int threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// Runs the program between MPI_Init and MPI_Finalize; exit status 0 only if it returns true on all
// ranks.
template <class Program>
int run(const char* name, int argc, char** argv, Program program) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  bool passed = false;
  try {
    passed = program(argc, argv);
  } catch (const UsageError& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s: %s\n", name, error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
