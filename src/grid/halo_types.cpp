// SPDX-License-Identifier: BSD-3-Clause
// Describes the bytes of a link as an MPI datatype.
#include "base/checked.hpp"
#include "grid/halo_program.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/type_of_bytes.hpp"

namespace tonari {
namespace {

OwnedType subarray(const tonari_array& array, ArrayOrder order, const CellBox& cells,
                   std::size_t element_bytes) {
  std::array<int, most_surface_dims> sizes{}, some{}, first{};
  for (int k = 0; k < array.dims; ++k) {
    sizes[k] =
        checked_cast<int>(array.lower[k] + array.own[k] + array.upper[k], "cells of a subdomain");
    some[k] = static_cast<int>(cells.end[k] - cells.first[k]);
    first[k] = static_cast<int>(cells.first[k] + array.lower[k]);
  }
  MPI_Datatype element = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  check_mpi(
      MPI_Type_contiguous(checked_cast<int>(element_bytes, "bytes of a cell"), MPI_BYTE, &element),
      "MPI_Type_contiguous");
  const OwnedType owned(element);
  check_mpi(MPI_Type_create_subarray(array.dims, sizes.data(), some.data(), first.data(),
                                     mpi_order(order), element, &type),
            "MPI_Type_create_subarray");
  return OwnedType(type);
}

}  // namespace

OwnedType type_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end,
                  const Layout& bytes) {
  if (grid.shape().bricked()) return type_of_bytes(bytes);
  std::vector<OwnedType> parts;
  std::vector<MPI_Aint> places;
  for (int f = 0; f < grid.shape().fields; ++f) {
    parts.push_back(subarray(grid.array(end.link.subdomain), grid.shape().order, end.cells,
                             grid.shape().element_bytes));
    places.push_back(reinterpret_cast<MPI_Aint>(grid.base(end.link.subdomain, request.copy, f)));
  }
  return join_types(parts, places);
}

}  // namespace tonari
