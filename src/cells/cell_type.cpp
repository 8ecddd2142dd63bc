// SPDX-License-Identifier: BSD-3-Clause
#include "cells/cell_type.hpp"

#include "base/error.hpp"
#include "cells/combine.hpp"
#include "mpi/datatype.hpp"
#include "tonari/grid_layout.h"

namespace tonari {

CellType read_cell_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL)
    fail(Errc::argument,
         "the type of a cell (shape.type) is not set; give an MPI datatype such as MPI_DOUBLE");
  const auto [low, extent] = extent_of(type);
  const Layout bytes = flatten(1, type);
  if (extent <= 0 || low != 0 || !bytes.contiguous() ||
      bytes.bytes() != static_cast<std::uint64_t>(extent))
    fail(Errc::argument, "the type of a cell must be contiguous bytes; this one spans ", extent,
         " bytes with ", bytes.bytes(), " bytes of data");
  return {static_cast<std::size_t>(extent), number_type(type)};
}

ArrayOrder read_order(int given) {
  if (given != TONARI_ORDER_C && given != TONARI_ORDER_FORTRAN)
    fail(Errc::argument, "shape.order is ", given,
         "; it must be TONARI_ORDER_C or TONARI_ORDER_FORTRAN");
  return given == TONARI_ORDER_C ? ArrayOrder::c : ArrayOrder::fortran;
}

void require_number(MPI_Datatype number) {
  if (number == MPI_DATATYPE_NULL)
    fail(Errc::argument,
         "a reverse exchange cannot combine cells of this type; it must be a predefined type of C "
         "numbers, or several of one by MPI_Type_contiguous");
}

}  // namespace tonari
