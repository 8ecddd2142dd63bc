// SPDX-License-Identifier: BSD-3-Clause
// The type of a grid's cells, and the order of its arrays.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "layout/array_cells.hpp"

namespace tonari {

struct CellType {
  std::size_t bytes = 0;
  // the predefined type that a cell consists of, for reverse exchanges; null if there is none
  MPI_Datatype number = MPI_DATATYPE_NULL;
};

// Throws Errc::argument: a cell must be contiguous bytes.
CellType read_cell_type(MPI_Datatype type);

// Throws Errc::argument unless reverse exchanges can combine such cells.
void require_number(MPI_Datatype number);

// TONARI_ORDER_...: shape.order as the program gave it. Throws Errc::argument.
ArrayOrder read_order(int given);

}  // namespace tonari
