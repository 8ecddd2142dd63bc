// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "mpi/last_words.hpp"
#include "mpi/same_mpi.hpp"
#include "mpi/world.hpp"
#include "request/buffer.hpp"
#include "request/guard.hpp"
#include "tonari/fortran.h"

extern "C" void tonari_fortran_check(int code) {
  if (code == TONARI_SUCCESS) return;
  tonari::say_before_abort(tonari_last_error());
  if (tonari::is_same_mpi() && tonari::world_runs()) MPI_Abort(MPI_COMM_WORLD, code);
  std::exit(EXIT_FAILURE);
}

extern "C" int tonari_fortran_refuse(const char* sentence) {
  return tonari::record(sentence, tonari::Errc::argument);
}

extern "C" void* tonari_fortran_in_place(void) { return MPI_IN_PLACE; }
extern "C" void* tonari_fortran_not_contiguous(void) {
  return const_cast<char*>(&tonari::not_contiguous);
}
