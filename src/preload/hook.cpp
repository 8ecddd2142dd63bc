// SPDX-License-Identifier: BSD-3-Clause
// Open MPI calls whoever has registered with opal_progress_register, as its own components do.
// MPICH 4 has no such function. But where its network module is UCX, it asks UCX for progress in
// every step of every call that waits, and this library stands in front of UCX, too.
#include "preload/hook.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include "preload/aside.hpp"
#include "preload/interpose.hpp"

namespace tonari::preload {
namespace {

bool registers(int (*proceed)()) {
  using Register = int(int (*)());
  const auto add = reinterpret_cast<Register*>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
  return add && add(proceed) == 0;
}

#ifndef OPEN_MPI

int (*hook)() = nullptr;
unsigned long polls = 0;  // since there is a hook

using Progress = unsigned(void*);

// A part of the program may have a UCX that it keeps to itself (RTLD_LOCAL): that is what the
// caller's library is linked with.
Progress* progress_of_ucx(const void* site) {
  constexpr const char* name = "ucp_worker_progress";
  static Progress* const next = behind<Progress>(name);
  Dl_info caller{};
  if (next || !dladdr(site, &caller)) return next;
  void* const library = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library ? reinterpret_cast<Progress*>(dlsym(library, name)) : nullptr;
}

// Not UCX itself, in a call of the MPI, and nobody else who uses UCX. Where a library in front of
// this one passes the question on, the MPI is not seen.
bool asked_by_mpi(const void* site) { return hook && from_mpi(site); }

unsigned progress_of_mpi(void* worker, const void* site) {
  Progress* const real = progress_of_ucx(site);
  const unsigned events = real ? real(worker) : 0;
  if (!asked_by_mpi(site)) return events;
  ++polls;
  return events + static_cast<unsigned>(hook());
}

int say_nothing(void*, MPI_Status*) { return MPI_SUCCESS; }
int free_nothing(void*) { return MPI_SUCCESS; }
int leave_nothing(void*, int) { return MPI_SUCCESS; }

MPI_Request begin_nothing() {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Grequest_start(say_nothing, free_nothing, leave_nothing, nullptr, &request);
  return request;
}

// Whether the MPI asks UCX is seen by testing a request that is not complete.
bool polls_ucx(int (*proceed)()) {
  hook = proceed;
  MPI_Request nothing = begin_nothing();
  int complete = 0;
  for (int k = 0; k < 64 && polls == 0; ++k) PMPI_Test(&nothing, &complete, MPI_STATUS_IGNORE);
  PMPI_Grequest_complete(nothing);
  PMPI_Request_free(&nothing);
  if (polls == 0) hook = nullptr;
  return polls > 0;
}

// A wait of MPICH looks at its request when any request has become complete; but a message from a
// rank to itself does not count.
void wake() {
  if (!hook) return;
  MPI_Request nothing = begin_nothing();
  PMPI_Grequest_complete(nothing);
  PMPI_Request_free(&nothing);
}

#else
bool polls_ucx(int (*)()) { return false; }
void wake() {}
#endif

}  // namespace

#ifndef OPEN_MPI
extern "C" TONARI_VISIBLE unsigned ucp_worker_progress(void* worker) {
  return progress_of_mpi(worker, __builtin_return_address(0));
}
#endif

bool hook_into_progress(int (*proceed)()) { return registers(proceed) || polls_ucx(proceed); }
void wake_the_wait() { wake(); }

}  // namespace tonari::preload
