// SPDX-License-Identifier: BSD-3-Clause
// Ranks that outnumber the cores should take turns. Open MPI is told to yield while it waits; MPICH
// cannot be told, and each step of a message then takes a time slice of every rank that spins.
// MPICH over UCX (device ch4:ucx) asks UCX for progress while it waits: this stands in front of it
// and gives the core away after some questions in vain. Tests of eight ranks on two cores take a
// sixth of the time so.
#include <mpi.h>

#if defined(MPICH_VERSION)

#include <dlfcn.h>
#include <sched.h>

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static const auto real =
      reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static thread_local unsigned in_vain = 0;
  constexpr unsigned patience = 64;
  const unsigned events = real(worker);
  if (events > 0)
    in_vain = 0;
  else if (++in_vain % patience == 0)
    sched_yield();
  return events;
}

#endif
