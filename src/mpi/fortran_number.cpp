// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/fortran_number.hpp"

#include <vector>

namespace tonari {
namespace {

struct NumberType {
  MPI_Datatype fortran, c;
};

// Of these types of C, the one with as many bytes as a type of Fortran: how many those of Fortran
// have, the MPI decides when it is built. Some may be missing.
void add(std::vector<NumberType>& numbers, std::initializer_list<MPI_Datatype> fortran,
         std::initializer_list<MPI_Datatype> c) {
  for (const MPI_Datatype from : fortran) {
    int wanted = 0, bytes = 0;
    if (from == MPI_DATATYPE_NULL || MPI_Type_size(from, &wanted) != MPI_SUCCESS) continue;
    for (const MPI_Datatype to : c)
      if (MPI_Type_size(to, &bytes) == MPI_SUCCESS && bytes == wanted)
        numbers.push_back({from, to});
  }
}

std::vector<NumberType> numbers() {
  std::vector<NumberType> all;
  add(all, {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}, {MPI_FLOAT, MPI_DOUBLE});
  add(all, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8},
      {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T});
  add(all, {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16},
      {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX});
  return all;
}

}  // namespace

MPI_Datatype c_number(MPI_Datatype type) {
  static const std::vector<NumberType> all = numbers();
  for (const NumberType& number : all)
    if (number.fortran == type) return number.c;
  return type;
}

}  // namespace tonari
