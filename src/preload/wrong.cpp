// SPDX-License-Identifier: BSD-3-Clause
#include "preload/wrong.hpp"

#include <cstdint>

#include "channels/arguments.hpp"

namespace tonari::preload {
namespace {

// Where the first byte of a block lies, as tonari and the MPI count it: types may have absolute
// addresses. What is beyond all addresses wraps around.
std::uintptr_t first_byte(const void* buffer, MPI_Datatype type, MPI_Aint at, Unit unit) {
  MPI_Aint low = 0, size = 0, begin = 0, extent = 0;
  if (PMPI_Type_get_true_extent(type, &low, &size) != MPI_SUCCESS) return 0;
  if (PMPI_Type_get_extent(type, &begin, &extent) != MPI_SUCCESS) return 0;
  const auto step = static_cast<std::uintptr_t>(unit == Unit::extent ? extent : 1);
  return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(at) * step +
         static_cast<std::uintptr_t>(low);
}

}  // namespace

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  int size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;  // for these the MPI ends the job
  if (PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

// A null type that describes no element is no concern of tonari's, whatever the MPI says.
int wrong_elements(MPI_Count count, MPI_Datatype type) {
  if (count < 0) return MPI_ERR_COUNT;
  return type == MPI_DATATYPE_NULL && count > 0 ? MPI_ERR_TYPE : MPI_SUCCESS;
}

int wrong_buffer(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Aint at, Unit unit) {
  if (buffer == MPI_IN_PLACE) return MPI_ERR_ARG;
  if (buffer || bytes_of(count, type) == 0) return MPI_SUCCESS;
  // Beyond the first page, a null buffer is MPI_BOTTOM.
  return first_byte(buffer, type, at, unit) < first_page ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

}  // namespace tonari::preload
