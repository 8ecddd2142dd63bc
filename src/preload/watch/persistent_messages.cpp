// SPDX-License-Identifier: BSD-3-Clause
// Persistent sends and receives: each start posts what their init has described.
#include <mutex>
#include <optional>
#include <unordered_map>

#include "preload/watch/starts.hpp"
#include "preload/watch/watched_call.hpp"

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
Requests& persistent() {
  static auto* const made = new Requests;
  return *made;
}

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

}  // namespace

int start(int (*real)(void*), const void* returns_to, void* request) {
  return started(returns_to, 1, request, [&] { return real(request); });
}

int start_all(int (*real)(int, void*), const void* returns_to, int count, void* requests) {
  return started(returns_to, count, requests, [&] { return real(count, requests); });
}

void forget_request(const void* request) {
  const std::lock_guard lock(persistent().mutex);
  persistent().all.erase(word_of(*static_cast<const MPI_Request*>(request)));
}

}  // namespace tonari::watch

using namespace tonari::watch;

#define TONARI_SEND_INIT(NAME, OURS)                                                               \
  TONARI_WATCHED(NAME, OURS, const void* buffer, int count, Handle type, int to, int tag,          \
                 Handle comm, void* request) {                                                     \
    TONARI_BEHIND(NAME, OURS);                                                                     \
    return init_noted(TONARI_RETURNS_TO, {"MPI_" #NAME, true, to, tag, count, type, comm},         \
                      request, [&] { return real(buffer, count, type, to, tag, comm, request); }); \
  }

TONARI_SEND_INIT(Send_init, send_init)
TONARI_SEND_INIT(Ssend_init, ssend_init)
TONARI_SEND_INIT(Rsend_init, rsend_init)
TONARI_SEND_INIT(Bsend_init, bsend_init)

TONARI_WATCHED(Recv_init, recv_init, void* buffer, int count, Handle type, int from, int tag,
               Handle comm, void* request) {
  TONARI_BEHIND(Recv_init, recv_init);
  return init_noted(TONARI_RETURNS_TO, {"MPI_Recv_init", false, from, tag, count, type, comm},
                    request, [&] { return real(buffer, count, type, from, tag, comm, request); });
}
