// SPDX-License-Identifier: BSD-3-Clause
// Ranks that outnumber the cores should take turns. Open MPI is told to yield while it waits; MPICH
// cannot be told, and each step of a message then takes a time slice of every rank that spins.
// MPICH over UCX (device ch4:ucx) asks UCX for progress while it waits: this stands in front of it
// and gives the core away after some questions in vain. Tests of eight ranks on two cores take a
// sixth of the time so.
#include <mpi.h>

#if defined(MPICH_VERSION)

#include <dlfcn.h>
#include <link.h>
#include <sched.h>

#include <cstring>

namespace {

using Progress = unsigned (*)(void*);

/// UCX's own function. Python loads the MPI for itself alone: then UCX is not among the libraries
/// that RTLD_NEXT looks into, and is asked by its name.
Progress progress_of_ucx() {
  constexpr const char* function = "ucp_worker_progress";
  void* found = dlsym(RTLD_NEXT, function);
  const auto look = [](dl_phdr_info* library, size_t, void* into) {
    if (std::strstr(library->dlpi_name, "/libucp") == nullptr) return 0;
    void* ucx = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    *static_cast<void**>(into) = ucx != nullptr ? dlsym(ucx, function) : nullptr;
    return 1;
  };
  if (found == nullptr) dl_iterate_phdr(look, &found);
  return reinterpret_cast<Progress>(found);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static const Progress real = progress_of_ucx();
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
