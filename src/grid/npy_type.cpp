// SPDX-License-Identifier: BSD-3-Clause
#include "grid/npy_type.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "base/error.hpp"
#include "mpi/fortran_number.hpp"

namespace tonari {

std::string npy_type(MPI_Datatype given, std::size_t bytes) {
  const MPI_Datatype type = c_number(given);
  const auto is_one_of = [&](std::initializer_list<MPI_Datatype> list) {
    return std::ranges::find(list, type) != list.end();
  };
  char kind = 0;
  if (is_one_of({MPI_FLOAT, MPI_DOUBLE}))
    kind = 'f';
  else if (is_one_of({MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                      MPI_CXX_DOUBLE_COMPLEX}))
    kind = 'c';
  else if (is_one_of({MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
                      MPI_INT16_T, MPI_INT32_T, MPI_INT64_T}))
    kind = 'i';
  else if (is_one_of({MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                      MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T,
                      MPI_BYTE}))
    kind = 'u';
  if (kind == 0) return "";
  const char order = bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  return text(order, kind, bytes);
}

}  // namespace tonari
