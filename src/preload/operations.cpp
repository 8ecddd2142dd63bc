// SPDX-License-Identifier: BSD-3-Clause
#include "preload/operations.hpp"

#include <algorithm>

namespace tonari::preload {

std::uint64_t bytes_of(int count, Handle type) {
  int size = 0;
  if (count <= 0 || PMPI_Type_size(type_of(type), &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

std::uint64_t bytes_of(const int counts[], int blocks, Handle type) {
  std::uint64_t all = 0;
  for (int block = 0; block < blocks; ++block) all += bytes_of(counts[block], type);
  return all;
}

std::uint64_t bytes_of(const int counts[], const MPI_Datatype types[], int blocks) {
  std::uint64_t all = 0;
  for (int block = 0; block < blocks; ++block) {
    int size = 0;
    if (PMPI_Type_size(types[block], &size) != MPI_SUCCESS) return 0;
    all += static_cast<std::uint64_t>(counts[block]) * static_cast<std::uint64_t>(size);
  }
  return all;
}

const MPI_Aint* wide(const int displacements[], int blocks, int number) {
  static thread_local std::array<std::vector<MPI_Aint>, 2> kept;
  if (!displacements || blocks == 0) return nullptr;
  std::vector<MPI_Aint>& list = kept[static_cast<std::size_t>(number)];
  list.assign(displacements, displacements + blocks);
  return list.data();
}

}  // namespace tonari::preload
