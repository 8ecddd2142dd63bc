// SPDX-License-Identifier: BSD-3-Clause
// How an MPI datatype was made, and of what. From MPI 4 on types may have been made with large
// counts, as mpi4py makes all of its types; MPI_Type_get_envelope refuses these.
#pragma once

#include <mpi.h>

#include "mpi/mpi_error.hpp"

namespace tonari {

#if MPI_VERSION >= 4
struct Envelope {
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

inline Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
  check_mpi(
      MPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large, &e.types, &e.combiner),
      "MPI_Type_get_envelope_c");
  return e;
}

inline void get_contents(MPI_Datatype type, const Envelope& e, int* integers, MPI_Aint* addresses,
                         MPI_Count* large, MPI_Datatype* types) {
  check_mpi(MPI_Type_get_contents_c(type, e.integers, e.addresses, e.large, e.types, integers,
                                    addresses, large, types),
            "MPI_Type_get_contents_c");
}
#else
struct Envelope {
  int integers = 0, addresses = 0, large = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

inline Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
  check_mpi(MPI_Type_get_envelope(type, &e.integers, &e.addresses, &e.types, &e.combiner),
            "MPI_Type_get_envelope");
  return e;
}

inline void get_contents(MPI_Datatype type, const Envelope& e, int* integers, MPI_Aint* addresses,
                         MPI_Count*, MPI_Datatype* types) {
  check_mpi(
      MPI_Type_get_contents(type, e.integers, e.addresses, e.types, integers, addresses, types),
      "MPI_Type_get_contents");
}
#endif

}  // namespace tonari
