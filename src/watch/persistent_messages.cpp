// SPDX-License-Identifier: BSD-3-Clause
// Persistent sends and receives: each start posts what their init has described.
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/lasting.hpp"
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

constexpr std::size_t most_requests = 65536;

struct Described {
  End what;
  const void* site;  // of the init
};

// Never destroyed: programs may free requests until MPI_Finalize.
struct Requests {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, Described> all;
};
Requests& persistent() { return lasting<Requests>(); }

// Without memory it is not known.
void describe(std::uintptr_t request, const Described& described) noexcept try {
  const std::lock_guard lock(persistent().mutex);
  if (persistent().all.size() < most_requests) persistent().all[request] = described;
} catch (...) {
}

std::optional<Described> described(std::uintptr_t request) {
  const std::lock_guard lock(persistent().mutex);
  const auto found = persistent().all.find(request);
  if (found == persistent().all.end()) return std::nullopt;
  return found->second;
}

// call() is the MPI's.
template <class Call>
int init_noted(const void* returns_to, const End& what, void* request, const Call& call) {
  const void* const site = site_of(returns_to);
  const bool watches = watcher_for(site);
  const int rc = call();
  if (watches && rc == MPI_SUCCESS)
    describe(word_of(*static_cast<MPI_Request*>(request)), {what, site});
  return rc;
}

// The time is in the first message.
void note_starts(Watcher& watcher, int count, const MPI_Request* requests, Ticks begin, Ticks end) {
  for (int k = 0; k < count; ++k) {
    const std::optional<Described> one = described(word_of(requests[k]));
    if (!one) continue;
    note(watcher, one->site, one->what, &requests[k], begin, end);
    begin = end;
  }
}

template <class Call>
int started(const void* returns_to, int count, const void* requests, const Call& call) {
  Watcher* const watcher = watcher_for(site_of(returns_to));
  if (!watcher) return call();
  const Ticks begin = ticks();
  const int rc = call();
  if (rc == MPI_SUCCESS)
    note_starts(*watcher, count, static_cast<const MPI_Request*>(requests), begin, ticks());
  return rc;
}

void forget_request(const void* request) {
  const std::lock_guard lock(persistent().mutex);
  persistent().all.erase(word_of(*static_cast<const MPI_Request*>(request)));
}

// Before the MPI frees it.
int free_request(const Called<int(void*)>& called, void* request) {
  if (watching()) forget_request(request);
  return called.real(request);
}

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

#define TONARI_SEND_INIT(NAME)                                                                   \
  TONARI_WATCHED(                                                                                \
      NAME,                                                                                      \
      (const void* buffer, int count, Handle type, int to, int tag, Handle comm, void* request), \
      init_noted(called.site, {#NAME, true, to, tag, count, type, comm}, request,                \
                 [&] { return called.real(buffer, count, type, to, tag, comm, request); }))

TONARI_SEND_INIT(MPI_Send_init);
TONARI_SEND_INIT(MPI_Ssend_init);
TONARI_SEND_INIT(MPI_Rsend_init);
TONARI_SEND_INIT(MPI_Bsend_init);

TONARI_WATCHED(
    MPI_Recv_init,
    (void* buffer, int count, Handle type, int from, int tag, Handle comm, void* request),
    init_noted(called.site, {"MPI_Recv_init", false, from, tag, count, type, comm}, request,
               [&] { return called.real(buffer, count, type, from, tag, comm, request); }));

TONARI_WATCHED(MPI_Start, (void* request),
               started(called.site, 1, request, [&] { return called.real(request); }));
TONARI_WATCHED(MPI_Startall, (int count, void* requests),
               started(called.site, count, requests, [&] { return called.real(count, requests); }));
TONARI_WATCHED(MPI_Request_free, (void* request), free_request(called, request));
