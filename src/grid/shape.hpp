// SPDX-License-Identifier: BSD-3-Clause
// The shape that a program asks for when it makes a grid, checked and agreed on.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "layout/array_cells.hpp"
#include "layout/decomposition.hpp"
#include "request/agree_on_arguments.hpp"
#include "tonari/grid.h"

namespace tonari {

enum class GridStorage : std::uint8_t { array, brick, mapped };
const char* name(GridStorage storage);
inline int mpi_order(ArrayOrder order) {
  return order == ArrayOrder::c ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

struct GridShape {
  Decomposition parts;
  GridStorage storage = GridStorage::array;
  std::size_t element_bytes = 0;
  std::string npy_type{};                   // NumPy's name for a cell's type, or empty
  MPI_Datatype number = MPI_DATATYPE_NULL;  // what cells consist of, if it is predefined
  int fields = 1, copies = 1;
  bool interleaved = false;
  Cells brick{};         // bricked storages
  std::size_t page = 0;  // mapped: regions begin at its multiples
  bool huge = false, mapped_ghosts = false;
  ArrayOrder order = ArrayOrder::c;  // of arrays; else c
  std::optional<int> device = {};    // that this rank's memory is allocated on; none: the host's

  int dims() const { return parts.dims(); }
  bool bricked() const { return storage != GridStorage::array; }
};

// Collective over `cart`, an intracommunicator. Throws the same on all ranks.
GridShape read_shape(MPI_Comm cart, const tonari_grid_shape* given, Output output);

}  // namespace tonari
