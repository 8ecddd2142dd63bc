// SPDX-License-Identifier: BSD-3-Clause
// What completes requests: the waits of an exchange end it, and their time is part of it.
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

// The open exchange of the first of these requests that has one: before the MPI sets them to null.
Epoch* epoch_of(Watcher& watcher, int count, const void* requests) {
  const auto* const list = static_cast<const MPI_Request*>(requests);
  for (int k = 0; k < count; ++k)
    if (Epoch* const epoch = watcher.epoch_of(word_of(list[k]))) return epoch;
  return nullptr;
}

// completed() tells after the call whether any request has become complete.
template <class Call, class Completed>
int waited(const char* name, const void* returns_to, int count, const void* requests,
           const Call& call, const Completed& completed) {
  const void* const site = site_of(returns_to);
  Watcher* const watcher = watcher_for(site);
  Epoch* const epoch = watcher ? epoch_of(*watcher, count, requests) : nullptr;
  if (!epoch) return call();
  const Ticks begin = ticks();
  const int rc = call();
  watcher->waited(*epoch, name, site, rc == MPI_SUCCESS && completed(), begin, ticks());
  return rc;
}

constexpr auto always = [] { return true; };

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

TONARI_WATCHED(MPI_Wait, (void* request, void* status),
               waited(
                   "MPI_Wait", called.site, 1, request,
                   [&] { return called.real(request, status); }, always));

TONARI_WATCHED(MPI_Waitall, (int count, void* requests, void* statuses),
               waited(
                   "MPI_Waitall", called.site, count, requests,
                   [&] { return called.real(count, requests, statuses); }, always));

TONARI_WATCHED(MPI_Waitany, (int count, void* requests, int* index, void* status),
               waited(
                   "MPI_Waitany", called.site, count, requests,
                   [&] { return called.real(count, requests, index, status); }, always));

TONARI_WATCHED(MPI_Waitsome, (int count, void* requests, int* done, int* indices, void* statuses),
               waited(
                   "MPI_Waitsome", called.site, count, requests,
                   [&] { return called.real(count, requests, done, indices, statuses); }, always));

TONARI_WATCHED(MPI_Test, (void* request, int* flag, void* status),
               waited(
                   "MPI_Test", called.site, 1, request,
                   [&] { return called.real(request, flag, status); }, [&] { return *flag != 0; }));

TONARI_WATCHED(MPI_Testall, (int count, void* requests, int* flag, void* statuses),
               waited(
                   "MPI_Testall", called.site, count, requests,
                   [&] { return called.real(count, requests, flag, statuses); },
                   [&] { return *flag != 0; }));

TONARI_WATCHED(MPI_Testany, (int count, void* requests, int* index, int* flag, void* status),
               waited(
                   "MPI_Testany", called.site, count, requests,
                   [&] { return called.real(count, requests, index, flag, status); },
                   [&] { return *flag != 0 && *index != MPI_UNDEFINED; }));

TONARI_WATCHED(MPI_Testsome, (int count, void* requests, int* done, int* indices, void* statuses),
               waited(
                   "MPI_Testsome", called.site, count, requests,
                   [&] { return called.real(count, requests, done, indices, statuses); },
                   [&] { return *done > 0; }));
