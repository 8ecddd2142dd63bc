// SPDX-License-Identifier: BSD-3-Clause
#include "support/counting.hpp"

#include <malloc.h>
#include <mpi.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <set>
#include <vector>

#include "../../src/mpi/quirks.hpp"  // also for programs that are built as a user builds them

#if defined(TONARI_SANITIZED) || defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define COUNT_ALLOCATIONS 0
#else
#define COUNT_ALLOCATIONS 1
#endif

namespace {

thread_local bool armed = false;
thread_local int inside_mpi = 0;
thread_local tonari::test::Counts counts;
thread_local tonari::test::Live existing;  // of the thread that runs the tests

int improbe_fails_in = 0;
bool communicators_refused = false;
bool neighborhoods_spoiled = false;
int largest_tag = 0;  // 0: as the MPI has it
std::atomic<double (*)()> clock_instead = nullptr;

// What the library asks of new and aligned_alloc, and what of that it does not get.
struct Refusal {
  long first = 0, asked = 0;
  bool once = true;
};
thread_local Refusal refusal;

struct Inside {
  Inside() {
    if (armed && inside_mpi == 0) ++counts.calls;
    ++inside_mpi;
  }
  ~Inside() { --inside_mpi; }
};

void note(long& counter, const char* name) {
  if (!armed || inside_mpi) return;
  ++counter;
  if (!*counts.first) counts.first = name;
}

// Which persistent requests send. Used inside of MPI's wrappers only, so its own memory does not
// count.
std::set<MPI_Request>& senders() {
  static auto* const all = new std::set<MPI_Request>;
  return *all;
}
bool sends(MPI_Request request) { return senders().count(request) > 0; }

// Synchronous sends that are not complete.
std::set<MPI_Request>& synchronous() {
  static auto* const all = new std::set<MPI_Request>;
  return *all;
}

#if COUNT_ALLOCATIONS
bool refused() {
  if (inside_mpi) return false;
  ++refusal.asked;
  return refusal.first > 0 &&
         (refusal.once ? refusal.asked == refusal.first : refusal.asked >= refusal.first);
}
void* note_allocation(void* p) {
  if (!p || inside_mpi) return p;
  ++existing.pieces;
  existing.bytes += static_cast<long>(malloc_usable_size(p));
  if (armed) ++counts.allocations;
  return p;
}
void note_free(void* p) {
  if (!p || inside_mpi) return;
  --existing.pieces;
  existing.bytes -= static_cast<long>(malloc_usable_size(p));
}
#endif

}  // namespace

namespace tonari::test {

void arm() {
  counts = {};
  armed = true;
}
Counts disarm() {
  armed = false;
  return counts;
}
const Counts& counted() { return counts; }
Live live() { return existing; }
OtherClock::OtherClock(double (*now)()) { clock_instead = now; }
OtherClock::~OtherClock() { clock_instead = nullptr; }
void fail_improbe(int n) { improbe_fails_in = n; }
void limit_tags(int largest) { largest_tag = largest; }
void refuse_communicators(bool refuse) { communicators_refused = refuse; }
void spoil_neighborhoods(bool spoil) { neighborhoods_spoiled = spoil; }
void fail_allocation(long n, bool once) { refusal = {n, 0, once}; }
long allocations() { return refusal.asked; }
bool counts_allocations() { return COUNT_ALLOCATIONS; }

}  // namespace tonari::test

#define EXPORT_CPP __attribute__((visibility("default")))
#define EXPORT extern "C" EXPORT_CPP

// ---- Memory

#if COUNT_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}
EXPORT void* malloc(std::size_t n) { return note_allocation(__libc_malloc(n)); }
EXPORT void* calloc(std::size_t n, std::size_t m) { return note_allocation(__libc_calloc(n, m)); }
EXPORT void* realloc(void* p, std::size_t n) {
  note_free(p);
  return note_allocation(__libc_realloc(p, n));
}
EXPORT void* aligned_alloc(std::size_t alignment, std::size_t n) {
  return refused() ? nullptr : note_allocation(__libc_memalign(alignment, n));
}
EXPORT void* memalign(std::size_t alignment, std::size_t n) {
  return note_allocation(__libc_memalign(alignment, n));
}
EXPORT int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  *p = note_allocation(__libc_memalign(alignment, n));
  return *p ? 0 : ENOMEM;
}
EXPORT void free(void* p) {
  note_free(p);
  __libc_free(p);
}

// No MPI is written in C++: these count the library's, also what goes in callbacks of the MPI.
EXPORT_CPP void* operator new(std::size_t n) {
  void* const p = refused() ? nullptr : malloc(n);
  if (!p) throw std::bad_alloc();
  ++existing.objects;
  return p;
}
EXPORT_CPP void operator delete(void* p) noexcept {
  if (p) --existing.objects;
  free(p);
}
EXPORT_CPP void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
#endif

// ---- MPI

EXPORT double MPI_Wtime() {
  double (*const now)() = clock_instead;
  return now ? now() : PMPI_Wtime();
}

#define COLLECTIVE(name, parameters, arguments) \
  EXPORT int MPI_##name parameters {            \
    note(counts.collectives, "MPI_" #name);     \
    const Inside inside;                        \
    return PMPI_##name arguments;               \
  }
#define BOTH_SIDES(name)                                                                         \
  COLLECTIVE(name,                                                                               \
             (const void* s, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c), \
             (s, n, t, d, m, u, c))
#define BOTH_SIDES_NONBLOCKING(name)                                                            \
  COLLECTIVE(name,                                                                              \
             (const void* s, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c, \
              MPI_Request* r),                                                                  \
             (s, n, t, d, m, u, c, r))
#define ROOTED(name)                                                                          \
  COLLECTIVE(name,                                                                            \
             (const void* s, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, int root, \
              MPI_Comm c),                                                                    \
             (s, n, t, d, m, u, root, c))

COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COLLECTIVE(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COLLECTIVE(Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r),
           (b, n, t, root, c, r))
COLLECTIVE(Reduce, (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
           (s, d, n, t, o, root, c))
COLLECTIVE(Allreduce, (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (s, d, n, t, o, c))
COLLECTIVE(Iallreduce,
           (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
           (s, d, n, t, o, c, r))
COLLECTIVE(Ireduce_scatter_block,
           (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
           (s, d, n, t, o, c, r))
COLLECTIVE(Scan, (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (s, d, n, t, o, c))
COLLECTIVE(Exscan, (const void* s, void* d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (s, d, n, t, o, c))
ROOTED(Gather)
ROOTED(Scatter)
BOTH_SIDES(Allgather)
BOTH_SIDES(Alltoall)
BOTH_SIDES(Neighbor_alltoall)
BOTH_SIDES(Neighbor_allgather)
BOTH_SIDES_NONBLOCKING(Iallgather)
BOTH_SIDES_NONBLOCKING(Ialltoall)
BOTH_SIDES_NONBLOCKING(Ineighbor_alltoall)
BOTH_SIDES_NONBLOCKING(Ineighbor_allgather)
COLLECTIVE(Neighbor_alltoallw,
           (const void* s, const int n[], const MPI_Aint a[], const MPI_Datatype t[], void* d,
            const int m[], const MPI_Aint b[], const MPI_Datatype u[], MPI_Comm c),
           (s, n, a, t, d, m, b, u, c))
COLLECTIVE(Ineighbor_alltoallw,
           (const void* s, const int n[], const MPI_Aint a[], const MPI_Datatype t[], void* d,
            const int m[], const MPI_Aint b[], const MPI_Datatype u[], MPI_Comm c, MPI_Request* r),
           (s, n, a, t, d, m, b, u, c, r))

// change: what a successful call, unless MPI makes it itself, adds to the objects that exist.
#define SETUP(name, parameters, arguments, change) \
  SETUP_AS(MPI, PMPI, name, parameters, arguments, change)
#define SETUP_AS(prefix, real, name, parameters, arguments, change) \
  EXPORT int prefix##_##name parameters {                           \
    note(counts.setups, #prefix "_" #name);                         \
    const Inside inside;                                            \
    const int code = real##_##name arguments;                       \
    if (code == MPI_SUCCESS && inside_mpi == 1) change;             \
    return code;                                                    \
  }
#define NEW_TYPE(name, parameters, arguments) \
  SETUP(name, parameters, arguments, ++existing.datatypes)

NEW_TYPE(Type_contiguous, (int n, MPI_Datatype t, MPI_Datatype* r), (n, t, r))
NEW_TYPE(Type_vector, (int n, int l, int s, MPI_Datatype t, MPI_Datatype* r), (n, l, s, t, r))
NEW_TYPE(Type_create_hvector, (int n, int l, MPI_Aint s, MPI_Datatype t, MPI_Datatype* r),
         (n, l, s, t, r))
NEW_TYPE(Type_indexed, (int n, const int l[], const int a[], MPI_Datatype t, MPI_Datatype* r),
         (n, l, a, t, r))
NEW_TYPE(Type_create_hindexed,
         (int n, const int l[], const MPI_Aint a[], MPI_Datatype t, MPI_Datatype* r),
         (n, l, a, t, r))
NEW_TYPE(Type_create_hindexed_block,
         (int n, int l, const MPI_Aint a[], MPI_Datatype t, MPI_Datatype* r), (n, l, a, t, r))
NEW_TYPE(Type_create_struct,
         (int n, const int l[], const MPI_Aint a[], const MPI_Datatype t[], MPI_Datatype* r),
         (n, l, a, t, r))
NEW_TYPE(Type_create_subarray,
         (int d, const int s[], const int n[], const int f[], int o, MPI_Datatype t,
          MPI_Datatype* r),
         (d, s, n, f, o, t, r))
NEW_TYPE(Type_create_resized, (MPI_Datatype t, MPI_Aint l, MPI_Aint e, MPI_Datatype* r),
         (t, l, e, r))
NEW_TYPE(Type_dup, (MPI_Datatype t, MPI_Datatype* r), (t, r))
SETUP(Type_commit, (MPI_Datatype * t), (t), (void)0)
SETUP(Type_free, (MPI_Datatype * t), (t), --existing.datatypes)

// As an MPI that has no communicator left: the parent's error handler is called, then the code is
// returned.
static int refuse_communicator(MPI_Comm parent) {
  MPI_Comm_call_errhandler(parent, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}
#define NEW_COMM(name, parameters, arguments)                             \
  EXPORT int MPI_##name parameters {                                      \
    note(counts.setups, "MPI_" #name);                                    \
    if (communicators_refused) return refuse_communicator(c);             \
    const Inside inside;                                                  \
    const int code = PMPI_##name arguments;                               \
    if (code == MPI_SUCCESS && inside_mpi == 1) ++existing.communicators; \
    return code;                                                          \
  }
// Open MPI tells of it later: MPI_Test calls the handler of MPI_COMM_WORLD.
static int refuse_duplicate(MPI_Comm parent, MPI_Request* request) {
#if defined(OPEN_MPI)
  const auto fails = [](void*, MPI_Status* status) { return status->MPI_ERROR = MPI_ERR_INTERN; };
  const auto no_data = [](void*) { return MPI_SUCCESS; };
  const auto no_cancel = [](void*, int) { return MPI_SUCCESS; };
  (void)parent;
  MPI_Grequest_start(fails, no_data, no_cancel, nullptr, request);
  return MPI_Grequest_complete(*request);
#else
  *request = MPI_REQUEST_NULL;
  return refuse_communicator(parent);
#endif
}
EXPORT int MPI_Comm_idup(MPI_Comm c, MPI_Comm* n, MPI_Request* r) {
  note(counts.setups, "MPI_Comm_idup");
  if (communicators_refused) return refuse_duplicate(c, r);
  const Inside inside;
  const int code = PMPI_Comm_idup(c, n, r);
  if (code == MPI_SUCCESS && inside_mpi == 1) ++existing.communicators;
  return code;
}
NEW_COMM(Comm_dup, (MPI_Comm c, MPI_Comm* n), (c, n))
NEW_COMM(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* n), (c, color, key, n))
NEW_COMM(Comm_split_type, (MPI_Comm c, int kind, int key, MPI_Info i, MPI_Comm* n),
         (c, kind, key, i, n))
NEW_COMM(Dist_graph_create_adjacent,
         (MPI_Comm c, int in, const int s[], const int sw[], int out, const int d[], const int dw[],
          MPI_Info i, int reorder, MPI_Comm* n),
         (c, in, s, sw, out, d, dw, i, reorder, n))
SETUP(Comm_free, (MPI_Comm * c), (c), --existing.communicators)
SETUP(Send_init,
      (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
      (b, n, t, to, tag, c, r), (++existing.requests, senders().insert(*r)))
SETUP(Recv_init, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
      (b, n, t, from, tag, c, r), ++existing.requests)

// Types that a derived type was made of come as new handles, to be freed; predefined ones do not.
static void note_contents(MPI_Datatype type, const MPI_Datatype types[]) {
  int i, a, n, combiner;
  PMPI_Type_get_envelope(type, &i, &a, &n, &combiner);
  for (int k = 0; k < n; ++k) {
    int kinds;
    PMPI_Type_get_envelope(types[k], &i, &a, &kinds, &combiner);
    existing.datatypes += combiner != MPI_COMBINER_NAMED;
  }
}
SETUP(Type_get_contents,
      (MPI_Datatype type, int ni, int na, int nt, int i[], MPI_Aint a[], MPI_Datatype t[]),
      (type, ni, na, nt, i, a, t), note_contents(type, t))
#if MPI_VERSION >= 4
SETUP(Type_get_contents_c,
      (MPI_Datatype type, MPI_Count ni, MPI_Count na, MPI_Count nl, MPI_Count nt, int i[],
       MPI_Aint a[], MPI_Count l[], MPI_Datatype t[]),
      (type, ni, na, nl, nt, i, a, l, t), note_contents(type, t))
#endif

#if TONARI_PERSISTENT_COLLECTIVES
static const void* sent(const void* given) {
  static const char zeros[1 << 20] = {};
  return neighborhoods_spoiled ? zeros : given;
}
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT(name, parameters, arguments) \
  SETUP(name, parameters, arguments, ++existing.requests)
#else
#define PERSISTENT(name, parameters, arguments) \
  SETUP_AS(MPIX, PMPIX, name, parameters, arguments, ++existing.requests)
#endif
PERSISTENT(Neighbor_alltoall_init,
           (const void* s, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c,
            MPI_Info i, MPI_Request* r),
           (sent(s), n, t, d, m, u, c, i, r))
PERSISTENT(Neighbor_allgather_init,
           (const void* s, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c,
            MPI_Info i, MPI_Request* r),
           (sent(s), n, t, d, m, u, c, i, r))
PERSISTENT(Neighbor_alltoallw_init,
           (const void* s, const int n[], const MPI_Aint a[], const MPI_Datatype t[], void* d,
            const int m[], const MPI_Aint b[], const MPI_Datatype u[], MPI_Comm c, MPI_Info i,
            MPI_Request* r),
           (sent(s), n, a, t, d, m, b, u, c, i, r))
#endif

// The set forgets the handle before MPI may give it to another request.
EXPORT int MPI_Request_free(MPI_Request* request) {
  note(counts.setups, "MPI_Request_free");
  const Inside inside;
  senders().erase(*request);
  synchronous().erase(*request);
  --existing.requests;
  return PMPI_Request_free(request);
}

// What MPI allocates in these is not ours.
#define PASS(name, parameters, arguments) \
  EXPORT int MPI_##name parameters {      \
    const Inside inside;                  \
    return PMPI_##name arguments;         \
  }
PASS(Type_get_envelope, (MPI_Datatype t, int* i, int* a, int* d, int* c), (t, i, a, d, c))
PASS(Info_get, (MPI_Info i, const char* k, int n, char* v, int* f), (i, k, n, v, f))
PASS(Info_set, (MPI_Info i, const char* k, const char* v), (i, k, v))
PASS(Info_create, (MPI_Info * i), (i))
PASS(Info_dup, (MPI_Info i, MPI_Info* r), (i, r))
PASS(Info_delete, (MPI_Info i, const char* k), (i, k))
PASS(Info_free, (MPI_Info * i), (i))
PASS(Wait, (MPI_Request * r, MPI_Status* s), (r, s))
PASS(Testall, (int n, MPI_Request r[], int* f, MPI_Status s[]), (n, r, f, s))
PASS(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
PASS(Waitsome, (int n, MPI_Request r[], int* m, int d[], MPI_Status s[]), (n, r, m, d, s))
PASS(Testany, (int n, MPI_Request r[], int* k, int* f, MPI_Status* s), (n, r, k, f, s))
PASS(Waitany, (int n, MPI_Request r[], int* k, MPI_Status* s), (n, r, k, s))
PASS(Mrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* s), (b, n, t, m, s))
PASS(Iprobe, (int from, int tag, MPI_Comm c, int* f, MPI_Status* s), (from, tag, c, f, s))
PASS(Sendrecv,
     (const void* s, int n, MPI_Datatype t, int to, int tag, void* d, int m, MPI_Datatype u,
      int from, int other, MPI_Comm c, MPI_Status* status),
     (s, n, t, to, tag, d, m, u, from, other, c, status))
PASS(Cancel, (MPI_Request * r), (r))
PASS(Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
     (b, n, t, from, tag, c, r))
PASS(Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
     (b, n, t, from, tag, c, s))

EXPORT int MPI_Start(MPI_Request* request) {
  if (armed) counts.sends += sends(*request);
  const Inside inside;
  return PMPI_Start(request);
}
EXPORT int MPI_Startall(int n, MPI_Request requests[]) {
  if (armed)
    for (int k = 0; k < n; ++k) counts.sends += sends(requests[k]);
  const Inside inside;
  return PMPI_Startall(n, requests);
}
#define SEND(name, parameters, arguments) \
  EXPORT int MPI_##name parameters {      \
    if (armed) ++counts.sends;            \
    const Inside inside;                  \
    return PMPI_##name arguments;         \
  }
SEND(Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
     (b, n, t, to, tag, c))
SEND(Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
     (b, n, t, to, tag, c, r))

EXPORT int MPI_Put(const void* b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u,
                   MPI_Win w) {
  if (armed) ++counts.puts;
  const Inside inside;
  return PMPI_Put(b, n, t, to, at, m, u, w);
}
EXPORT int MPI_Accumulate(const void* b, int n, MPI_Datatype t, int to, MPI_Aint at, int m,
                          MPI_Datatype u, MPI_Op o, MPI_Win w) {
  if (armed) ++counts.puts;
  const Inside inside;
  return PMPI_Accumulate(b, n, t, to, at, m, u, o, w);
}

EXPORT int MPI_Issend(const void* buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  if (armed) ++counts.sends;
  const Inside inside;
  const int code = PMPI_Issend(buffer, n, type, to, tag, comm, request);
  if (code == MPI_SUCCESS) ++existing.requests, synchronous().insert(*request);
  return code;
}
EXPORT int MPI_Test(MPI_Request* request, int* complete, MPI_Status* status) {
  const Inside inside;
  const MPI_Request tested = *request;
  const int code = PMPI_Test(request, complete, status);
  if (code == MPI_SUCCESS && *complete)
    existing.requests -= static_cast<long>(synchronous().erase(tested));
  return code;
}
EXPORT int MPI_Testsome(int n, MPI_Request requests[], int* count, int done[],
                        MPI_Status statuses[]) {
  const Inside inside;
  const std::vector<MPI_Request> tested(requests, requests + n);
  const int code = PMPI_Testsome(n, requests, count, done, statuses);
  for (int k = 0; code == MPI_SUCCESS && *count != MPI_UNDEFINED && k < *count; ++k)
    existing.requests -=
        static_cast<long>(synchronous().erase(tested[static_cast<std::size_t>(done[k])]));
  return code;
}
EXPORT int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  const Inside inside;
  const int code = PMPI_Comm_get_attr(comm, key, value, found);
  if (key == MPI_TAG_UB && largest_tag > 0) *static_cast<int**>(value) = &largest_tag;
  return code;
}
EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                       MPI_Status* status) {
  if (improbe_fails_in > 0 && --improbe_fails_in == 0) return MPI_ERR_OTHER;
  const Inside inside;
  return PMPI_Improbe(source, tag, comm, found, message, status);
}
