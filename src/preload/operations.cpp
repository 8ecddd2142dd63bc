// SPDX-License-Identifier: BSD-3-Clause
#include "preload/operations.hpp"

#include <array>
#include <vector>

namespace tonari::preload {

const MPI_Aint* wide(const int displacements[], int blocks, int number) {
  static thread_local std::array<std::vector<MPI_Aint>, 2> lists;
  if (!displacements || blocks == 0) return nullptr;
  std::vector<MPI_Aint>& list = lists[static_cast<std::size_t>(number)];
  list.assign(displacements, displacements + blocks);
  return list.data();
}

}  // namespace tonari::preload
