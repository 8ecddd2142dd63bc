// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that the program has begun and not yet completed. By MPI's rule of progress they go on
// in any call in which the program waits: for one of them, for another message, in a barrier. So
// the MPI itself has to call this library when it looks for progress.
#pragma once

#include <tonari/tonari.h>

namespace tonari::preload {

// Returns whether the MPI calls us then (hook.hpp), and one thread at a time calls the MPI. That
// stays the same until the end. Not to be called before MPI_Init.
bool mpi_drives_exchanges();
// Says why it does not, and what to do where that helps; null if it does.
const char* why_not_driven();

struct Begun {
  tonari_request request;
  // Called once, with tonari's code, when the exchange is complete or has failed. `request` is
  // whoever's it was before.
  void (*complete)(void* who, int code);
  void* who;
};
// Drives it from now on; it may be complete on return.
void drive(const Begun& begun);

// Marks that this thread is in a function of libtonari, which may call the MPI and so us.
class InTonari {
 public:
  InTonari() { ++depth; }
  ~InTonari() { --depth; }
  InTonari(const InTonari&) = delete;
  InTonari& operator=(const InTonari&) = delete;
  static bool now() { return depth > 0; }

 private:
  static thread_local int depth;
};

}  // namespace tonari::preload
