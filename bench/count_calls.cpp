// SPDX-License-Identifier: BSD-3-Clause
// The wrappers. The executable's definitions come before libmpi's, also for calls from the tonari
// library.
#include <unordered_map>

#include "count.hpp"

namespace bench {
namespace {

bool counting = false;
Sent sent;

struct Destination {
  int rank;
  MPI_Comm comm;
  long long bytes;
};
// Persistent sends by their handle; handles are used again once freed, so MPI_Request_free forgets
// them.
std::unordered_map<MPI_Request, Destination>& sends() {
  static std::unordered_map<MPI_Request, Destination> map;
  return map;
}

long long bytes_of(MPI_Count n, MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return static_cast<long long>(n * size);
}

void count(const Destination& to) {
  int rank;
  PMPI_Comm_rank(to.comm, &rank);
  ++(to.rank == rank ? sent.self : sent.others);
  sent.bytes += to.bytes;
}

void count(int destination, MPI_Comm comm, MPI_Count n, MPI_Datatype type) {
  if (counting && destination != MPI_PROC_NULL) count({destination, comm, bytes_of(n, type)});
}

void count(MPI_Request request) {
  if (!counting) return;
  if (const auto found = sends().find(request);
      found != sends().end() && found->second.rank != MPI_PROC_NULL)
    count(found->second);
}

int remember(int result, int destination, MPI_Comm comm, long long bytes,
             const MPI_Request* request) {
  if (result == MPI_SUCCESS) sends()[*request] = {destination, comm, bytes};
  return result;
}

}  // namespace

Sent count_calls(const std::function<void()>& exchange) {
  sent = {};
  counting = true;
  exchange();
  counting = false;
  return sent;
}

}  // namespace bench

#define BENCH_EXPORT extern "C" __attribute__((visibility("default")))

#define BENCH_BLOCKING(NAME, COUNT)                                                            \
  BENCH_EXPORT int MPI_##NAME(const void* buffer, COUNT n, MPI_Datatype type, int to, int tag, \
                              MPI_Comm comm) {                                                 \
    bench::count(to, comm, n, type);                                                           \
    return PMPI_##NAME(buffer, n, type, to, tag, comm);                                        \
  }
#define BENCH_IMMEDIATE(NAME, COUNT)                                                           \
  BENCH_EXPORT int MPI_##NAME(const void* buffer, COUNT n, MPI_Datatype type, int to, int tag, \
                              MPI_Comm comm, MPI_Request* request) {                           \
    bench::count(to, comm, n, type);                                                           \
    return PMPI_##NAME(buffer, n, type, to, tag, comm, request);                               \
  }
#define BENCH_PERSISTENT(NAME, COUNT)                                                          \
  BENCH_EXPORT int MPI_##NAME(const void* buffer, COUNT n, MPI_Datatype type, int to, int tag, \
                              MPI_Comm comm, MPI_Request* request) {                           \
    return bench::remember(PMPI_##NAME(buffer, n, type, to, tag, comm, request), to, comm,     \
                           bench::bytes_of(n, type), request);                                 \
  }

BENCH_BLOCKING(Send, int)
BENCH_BLOCKING(Ssend, int)
BENCH_BLOCKING(Rsend, int)
BENCH_BLOCKING(Bsend, int)
BENCH_IMMEDIATE(Isend, int)
BENCH_IMMEDIATE(Issend, int)
BENCH_IMMEDIATE(Irsend, int)
BENCH_IMMEDIATE(Ibsend, int)
BENCH_PERSISTENT(Send_init, int)
BENCH_PERSISTENT(Ssend_init, int)
BENCH_PERSISTENT(Rsend_init, int)
BENCH_PERSISTENT(Bsend_init, int)
#if MPI_VERSION >= 4
BENCH_BLOCKING(Send_c, MPI_Count)
BENCH_BLOCKING(Ssend_c, MPI_Count)
BENCH_IMMEDIATE(Isend_c, MPI_Count)
BENCH_IMMEDIATE(Issend_c, MPI_Count)
BENCH_PERSISTENT(Send_init_c, MPI_Count)
BENCH_PERSISTENT(Ssend_init_c, MPI_Count)
BENCH_PERSISTENT(Rsend_init_c, MPI_Count)
#endif

BENCH_EXPORT int MPI_Sendrecv(const void* s, int sn, MPI_Datatype st, int to, int stag, void* r,
                              int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm comm,
                              MPI_Status* status) {
  bench::count(to, comm, sn, st);
  return PMPI_Sendrecv(s, sn, st, to, stag, r, rn, rt, from, rtag, comm, status);
}

BENCH_EXPORT int MPI_Sendrecv_replace(void* buffer, int n, MPI_Datatype type, int to, int stag,
                                      int from, int rtag, MPI_Comm comm, MPI_Status* status) {
  bench::count(to, comm, n, type);
  return PMPI_Sendrecv_replace(buffer, n, type, to, stag, from, rtag, comm, status);
}

BENCH_EXPORT int MPI_Start(MPI_Request* request) {
  bench::count(*request);
  return PMPI_Start(request);
}

BENCH_EXPORT int MPI_Startall(int n, MPI_Request requests[]) {
  for (int i = 0; i < n && bench::counting; ++i) bench::count(requests[i]);
  return PMPI_Startall(n, requests);
}

BENCH_EXPORT int MPI_Request_free(MPI_Request* request) {
  bench::sends().erase(*request);
  return PMPI_Request_free(request);
}
