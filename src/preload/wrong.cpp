// SPDX-License-Identifier: BSD-3-Clause
#include "preload/wrong.hpp"

namespace tonari::preload {

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

int wrong_buffer(const void* buffer, std::uint64_t bytes, MPI_Aint at) {
  constexpr MPI_Aint first_page = 4096;  // beyond it, a null buffer is MPI_BOTTOM
  if (buffer == MPI_IN_PLACE) return MPI_ERR_ARG;
  return !buffer && bytes > 0 && at >= 0 && at < first_page ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

}  // namespace tonari::preload
