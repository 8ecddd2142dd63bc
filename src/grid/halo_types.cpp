// Describes the bytes of a link as an MPI datatype.
#include <numeric>

#include "base/checked.hpp"
#include "channels/mpi_error.hpp"
#include "grid/halo_program.hpp"

namespace tonari {
namespace {

// Types at absolute addresses, one behind the other.
OwnedType join(const std::vector<OwnedType>& parts, const std::vector<MPI_Aint>& places) {
  std::vector<MPI_Datatype> types;
  for (const OwnedType& part : parts) types.push_back(part.get());
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(checked_cast<int>(types.size(), "pieces of a message"),
                                   ones.data(), places.data(), types.data(), &whole),
            "MPI_Type_create_struct");
  OwnedType owned(whole);
  check_mpi(MPI_Type_commit(&whole), "MPI_Type_commit");
  return owned;
}

OwnedType type_of_runs(const Layout& bytes) {
  std::vector<OwnedType> parts;
  std::vector<MPI_Aint> places;
  for (const Run& run : bytes.runs()) {
    check_mpi(MPI_Type_create_hvector(checked_cast<int>(run.count, "pieces of a message"),
                                      checked_cast<int>(run.length, "bytes of a piece"), run.stride,
                                      MPI_BYTE, parts.emplace_back().place()),
              "MPI_Type_create_hvector");
    places.push_back(run.offset);
  }
  return join(parts, places);
}

OwnedType subarray(const tonari_array& array, const CellBox& cells, std::size_t element_bytes) {
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
                                     MPI_ORDER_C, element, &type),
            "MPI_Type_create_subarray");
  return OwnedType(type);
}

}  // namespace

OwnedType type_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end,
                  const Layout& bytes) {
  if (grid.shape().bricked()) return type_of_runs(bytes);
  std::vector<OwnedType> parts;
  std::vector<MPI_Aint> places;
  for (int f = 0; f < grid.shape().fields; ++f) {
    parts.push_back(
        subarray(grid.array(end.link.subdomain), end.cells, grid.shape().element_bytes));
    places.push_back(reinterpret_cast<MPI_Aint>(grid.base(end.link.subdomain, request.copy, f)));
  }
  return join(parts, places);
}

}  // namespace tonari
