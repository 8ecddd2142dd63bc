// The border between C++ and C: exceptions become codes, sentences are kept for tonari_last_error.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace tonari {

// Keep the sentence for this thread; return the code.
int record(const char* sentence, Errc code) noexcept;
int record_current_exception() noexcept;

// Runs work, returns TONARI_SUCCESS or the code of what it threw.
template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return record_current_exception();
  }
}

// What the program must give. name: of the argument, as the function declares it.
inline void require(const void* pointer, const char* name) {
  if (!pointer) fail(Errc::argument, "`", name, "` is NULL");
}
inline void require_comm(MPI_Comm comm, const char* name) {
  if (comm == MPI_COMM_NULL) fail(Errc::argument, "`", name, "` is MPI_COMM_NULL");
}

}  // namespace tonari
