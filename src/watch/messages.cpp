// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives, with requests and without.
#include "watch/watched_call.hpp"

namespace tonari::watch {

__attribute__((tls_model("initial-exec"))) thread_local constinit const void* fortran_site =
    nullptr;

namespace {

constexpr int nobody = -2;

// In MPI_COMM_WORLD.
int in_world(const Members& members, int peer) {
  if (peer == MPI_ANY_SOURCE) return -1;
  if (peer < 0 || peer >= members.ranks()) return nobody;
  const int rank = members.world[static_cast<std::size_t>(peer)];
  return rank == MPI_UNDEFINED ? nobody : rank;
}

}  // namespace

void note(Watcher& watcher, const void* site, const End& what, const MPI_Request* request,
          Ticks begin, Ticks end) {
  const Members& members = members_of(handle_as<MPI_Comm>(what.comm));
  const int peer = members.id ? in_world(members, what.peer) : nobody;
  if (peer == nobody) return;
  const Message message{
      what.call,         site, bytes_of(what.count, what.type), peer, what.tag, what.sent,
      request != nullptr};
  try {
    watcher.post(members.id, members.ranks(), message, request ? word_of(*request) : 0, begin, end);
  } catch (...) {  // without memory it is lost
  }
}

}  // namespace tonari::watch

using namespace tonari::watch;

// Functions that send and have the same arguments.
#define TONARI_BLOCKING_SEND(NAME)                                                                 \
  TONARI_WATCHED(NAME, (const void* buffer, int count, Handle type, int to, int tag, Handle comm), \
                 noted(called.site, {#NAME, true, to, tag, count, type, comm}, nullptr,            \
                       [&] { return called.real(buffer, count, type, to, tag, comm); }))
#define TONARI_BEGUN_SEND(NAME)                                                                  \
  TONARI_WATCHED(                                                                                \
      NAME,                                                                                      \
      (const void* buffer, int count, Handle type, int to, int tag, Handle comm, void* request), \
      noted(called.site, {#NAME, true, to, tag, count, type, comm}, request,                     \
            [&] { return called.real(buffer, count, type, to, tag, comm, request); }))

TONARI_BLOCKING_SEND(MPI_Send);
TONARI_BLOCKING_SEND(MPI_Ssend);
TONARI_BLOCKING_SEND(MPI_Rsend);
TONARI_BLOCKING_SEND(MPI_Bsend);
TONARI_BEGUN_SEND(MPI_Isend);
TONARI_BEGUN_SEND(MPI_Issend);
TONARI_BEGUN_SEND(MPI_Irsend);
TONARI_BEGUN_SEND(MPI_Ibsend);

TONARI_WATCHED(MPI_Recv,
               (void* buffer, int count, Handle type, int from, int tag, Handle comm, void* status),
               noted(called.site, {"MPI_Recv", false, from, tag, count, type, comm}, nullptr,
                     [&] { return called.real(buffer, count, type, from, tag, comm, status); }));

TONARI_WATCHED(MPI_Irecv,
               (void* buffer, int count, Handle type, int from, int tag, Handle comm,
                void* request),
               noted(called.site, {"MPI_Irecv", false, from, tag, count, type, comm}, request,
                     [&] { return called.real(buffer, count, type, from, tag, comm, request); }));

namespace {

// Both messages of a call; its time is in the first.
template <class Call>
int both_noted(const void* returns_to, const End& out, const End& in, const Call& call) {
  return timed(returns_to, call, [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    const bool sends = out.peer != MPI_PROC_NULL;
    if (sends) note(watcher, site, out, nullptr, begin, end);
    note(watcher, site, in, nullptr, sends ? end : begin, end);
  });
}

}  // namespace

TONARI_WATCHED(MPI_Sendrecv,
               (const void* out, int outs, Handle outtype, int to, int outtag, void* in, int ins,
                Handle intype, int from, int intag, Handle comm, void* status),
               both_noted(called.site, {"MPI_Sendrecv", true, to, outtag, outs, outtype, comm},
                          {"MPI_Sendrecv", false, from, intag, ins, intype, comm}, [&] {
                            return called.real(out, outs, outtype, to, outtag, in, ins, intype,
                                               from, intag, comm, status);
                          }));

TONARI_WATCHED(MPI_Sendrecv_replace,
               (void* buffer, int count, Handle type, int to, int outtag, int from, int intag,
                Handle comm, void* status),
               both_noted(called.site,
                          {"MPI_Sendrecv_replace", true, to, outtag, count, type, comm},
                          {"MPI_Sendrecv_replace", false, from, intag, count, type, comm}, [&] {
                            return called.real(buffer, count, type, to, outtag, from, intag, comm,
                                               status);
                          }));
