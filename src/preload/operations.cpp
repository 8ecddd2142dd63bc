// SPDX-License-Identifier: BSD-3-Clause
#include "preload/operations.hpp"

#include <array>
#include <vector>

namespace tonari::preload {

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  int size = 0;
  if (count <= 0 || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

const MPI_Aint* wide(const int displacements[], int blocks, int number) {
  static thread_local std::array<std::vector<MPI_Aint>, 2> kept;
  if (!displacements || blocks == 0) return nullptr;
  std::vector<MPI_Aint>& list = kept[static_cast<std::size_t>(number)];
  list.assign(displacements, displacements + blocks);
  return list.data();
}

}  // namespace tonari::preload
