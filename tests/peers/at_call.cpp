// SPDX-License-Identifier: BSD-3-Clause
#include "peers/at_call.hpp"

// The library is to find the functions that are defined here.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

namespace {

using tonari::test::Fate;

constexpr std::array names{"MPI_Comm_idup",    "MPI_Dist_graph_create_adjacent",
                           "MPI_Iallgather",   "MPI_Iallreduce",
                           "MPI_Ibarrier",     "MPI_Ibcast",
                           "MPI_Test",         "MPI_Testall",
                           "MPI_Win_allocate", "MPI_Wtime"};

std::atomic<const char*> chosen{nullptr};
std::atomic<int> left{0};
std::atomic<Fate> fate{Fate::die};

void comes_to(const char* name) {
  if (const char* const call = chosen; !call || call != std::string_view(name)) return;
  if (left-- > 0) return;
  chosen = nullptr;
  if (fate == Fate::spin)
    while (true) usleep(1000);
  raise(fate == Fate::die ? SIGKILL : SIGSTOP);
}

}  // namespace

bool tonari::test::let_befall(Fate what, const std::string& call, int before) {
  const auto name = std::ranges::find(names, call);
  if (name == names.end()) return false;
  fate = what, left = before, chosen = *name;
  return true;
}

#pragma GCC visibility push(default)
extern "C" {

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return comes_to("MPI_Comm_idup"), PMPI_Comm_idup(comm, made, request);
}
int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[], const int weights[],
                                   int out, const int targets[], const int out_weights[],
                                   MPI_Info info, int reorder, MPI_Comm* made) {
  comes_to("MPI_Dist_graph_create_adjacent");
  return PMPI_Dist_graph_create_adjacent(comm, in, sources, weights, out, targets, out_weights,
                                         info, reorder, made);
}
int MPI_Iallgather(const void* mine, int n, MPI_Datatype type, void* all, int each,
                   MPI_Datatype into, MPI_Comm comm, MPI_Request* request) {
  comes_to("MPI_Iallgather");
  return PMPI_Iallgather(mine, n, type, all, each, into, comm, request);
}
int MPI_Iallreduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return comes_to("MPI_Iallreduce"), PMPI_Iallreduce(mine, all, n, type, op, comm, request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return comes_to("MPI_Ibarrier"), PMPI_Ibarrier(comm, request);
}
int MPI_Ibcast(void* words, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  return comes_to("MPI_Ibcast"), PMPI_Ibcast(words, n, type, root, comm, request);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return comes_to("MPI_Test"), PMPI_Test(request, flag, status);
}
int MPI_Testall(int n, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return comes_to("MPI_Testall"), PMPI_Testall(n, requests, flag, statuses);
}
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                     MPI_Win* made) {
  return comes_to("MPI_Win_allocate"), PMPI_Win_allocate(bytes, unit, info, comm, base, made);
}
double MPI_Wtime() { return comes_to("MPI_Wtime"), PMPI_Wtime(); }

}  // extern "C"
#pragma GCC visibility pop
