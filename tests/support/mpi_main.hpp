// SPDX-License-Identifier: BSD-3-Clause
// What tests ask about the run they are part of.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace tonari::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Whether the MPI that runs names itself so. A program for the standard ABI of MPI 5 is compiled
// once for all MPIs.
inline bool mpi_says(const char* name) {
  static const std::string version = [] {
    std::vector<char> text(16384);  // MPI_MAX_LIBRARY_VERSION_STRING may be that of another MPI
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return std::string(text.data());
  }();
  return version.find(name) != std::string::npos;
}

// MPICH and Intel MPI, which is made of it, give no core away while they wait.
inline bool mpi_spins() { return mpi_says("MPICH") || mpi_says("Intel(R) MPI"); }

// True on all ranks if it is true on all of them. For conditions that decide about going on: a rank
// that left a test alone would leave the others waiting in it.
inline bool everywhere(bool here) {
  int all = here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace tonari::test
