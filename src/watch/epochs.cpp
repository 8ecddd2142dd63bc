// SPDX-License-Identifier: BSD-3-Clause
#include "watch/epochs.hpp"

#include <algorithm>
#include <mutex>

#include "base/lasting.hpp"
#include "watch/patterns.hpp"

namespace tonari::watch {
namespace {

// The same for any order of the messages.
std::uint64_t mixed(const Message& message, std::uint64_t bytes) {
  std::uint64_t word = (static_cast<std::uint64_t>(static_cast<unsigned>(message.peer)) << 1 |
                        static_cast<std::uint64_t>(message.sent)) *
                       0x9E3779B97F4A7C15U;
  word = (word ^ word >> 29 ^ bytes) * 0xBF58476D1CE4E5B9U;
  return word ^ word >> 32;
}

// Calls that block leave no request whose wait would end the epoch: the first of them comes again,
// or one with a request.
bool begins_again(const Epoch& epoch, const Message& message) {
  if (epoch.has_requests) return false;
  const Message& first = epoch.messages[0];
  return message.begun || (first.site == message.site && first.peer == message.peer &&
                           first.tag == message.tag && first.sent == message.sent);
}

void add(Epoch& epoch, const Message& message) {
  if (epoch.count < most_messages) epoch.messages[epoch.count] = message;
  epoch.count += !is_full(epoch);
  epoch.signature += mixed(message, message.bytes);
  epoch.partners += mixed(message, 0);
  epoch.has_requests |= message.begun;
}

bool do_the_same(const Loop& a, const Loop& b) {
  const auto signature = [](const auto& pattern) { return pattern->signature; };
  return a.site == b.site && a.ranks == b.ranks && a.others == 0 && b.others == 0 &&
         std::ranges::is_permutation(a.patterns, b.patterns, {}, signature, signature);
}

void add(Loop& loop, const Loop& other) {
  loop.epochs += other.epochs, loop.inside += other.inside;
  for (const auto& pattern : loop.patterns)
    add(*pattern, **std::ranges::find(other.patterns, pattern->signature,
                                      [](const auto& one) { return one->signature; }));
}

}  // namespace

Epoch& Watcher::opened(std::uint64_t communicator, int ranks, const Message& message, Ticks begin) {
  Epoch* epoch = &open_[last_];
  if (epoch->communicator != communicator || !epoch->count) {
    const auto found = std::ranges::find_if(open_, [&](const Epoch& other) {
      return other.count && other.communicator == communicator;
    });
    if (found != open_.end())
      last_ = static_cast<std::size_t>(found - open_.begin());
    else
      last_ = (last_ + 1) % open_.size();
    epoch = &open_[last_];
  }
  if (epoch->count &&
      (epoch->communicator != communicator || epoch->completing || begins_again(*epoch, message)))
    close(*epoch);
  if (epoch->count) return *epoch;
  epoch->communicator = communicator, epoch->ranks = ranks, epoch->number = ++numbers_;
  epoch->completing = epoch->has_requests = false;
  epoch->signature = epoch->partners = 0, epoch->begin = begin, epoch->inside = 0;
  epoch->waited_at = nullptr, epoch->waited_by = nullptr;
  return *epoch;
}

void Watcher::post(std::uint64_t communicator, int ranks, const Message& message,
                   std::uintptr_t request, Ticks begin, Ticks end) {
  Epoch& epoch = opened(communicator, ranks, message, begin);
  add(epoch, message);
  epoch.inside += end - begin;
  if (message.begun) requests_.put(request, epoch.number);
}

Epoch* Watcher::epoch_of(std::uintptr_t request) {
  const std::uint64_t number = requests_.epoch_of(request);
  if (!number) return nullptr;
  if (open_[last_].number == number) return &open_[last_];
  const auto found = std::ranges::find(open_, number, &Epoch::number);
  return found == open_.end() ? nullptr : &*found;
}

void Watcher::waited(Epoch& epoch, const char* call, const void* site, bool completed, Ticks begin,
                     Ticks end) {
  epoch.inside += end - begin;
  if (!completed) return;
  epoch.completing = true;
  if (epoch.waited_at) return;
  epoch.waited_at = site, epoch.waited_by = call;
  // Only the first two times, since looking at the stack takes microseconds: the first one may be
  // the program's setup, the second one is its loop.
  const Loop* const loop = known_loop(epoch);
  const Pattern* const pattern = loop ? known_pattern(*loop, epoch) : nullptr;
  if (!pattern || pattern->epochs == 1) epoch.callers = callers_above(site);
}

namespace {
const void* place_of(const Epoch& epoch) {
  return epoch.waited_at ? epoch.waited_at : epoch.messages[0].site;
}
}  // namespace

Loop* Watcher::known_loop(const Epoch& epoch) const {
  for (const auto& loop : loops_)
    if (loop->site == place_of(epoch) && loop->ranks == epoch.ranks) return loop.get();
  return nullptr;
}

Loop* Watcher::loop_of(const Epoch& epoch) {
  if (Loop* const known = known_loop(epoch)) return known;
  if (loops_.size() == most_loops) return nullptr;
  const Message& first = epoch.messages[0];
  const void* const site = place_of(epoch);
  loops_.push_back(std::make_unique<Loop>());
  Loop& made = *loops_.back();
  made.site = site, made.ranks = epoch.ranks;
  made.call = epoch.waited_by ? epoch.waited_by : first.call;
  return &made;
}

void Watcher::close(Epoch& epoch) {
  Loop* const loop = loop_of(epoch);
  if (loop) {
    ++loop->epochs;
    loop->inside += epoch.inside;
    Pattern* const pattern = pattern_of(*loop, epoch);
    if (pattern)
      count(*pattern, epoch);
    else
      ++loop->others;
  }
  not_kept_ += !loop;
  epoch.count = 0, epoch.number = 0;
}

void Watcher::close_of(std::uint64_t communicator) {
  for (Epoch& epoch : open_)
    if (epoch.count && epoch.communicator == communicator) close(epoch);
}

void Watcher::close_all() {
  for (Epoch& epoch : open_)
    if (epoch.count) close(epoch);
}

void Watcher::finish_loops() {
  for (const auto& loop : loops_) {
    join_sizes(*loop);
    bring_together(*loop);
  }
}

void Watcher::join(Watcher& other) {
  std::erase_if(other.loops_, [&](const std::unique_ptr<Loop>& loop) {
    const auto same = std::ranges::find_if(
        loops_, [&](const std::unique_ptr<Loop>& mine) { return do_the_same(*mine, *loop); });
    if (same != loops_.end()) add(**same, *loop);
    return same != loops_.end();
  });
}

void Watcher::counted(const char* call, const void* site, std::uint64_t bytes, Ticks begin,
                      Ticks end) {
  auto found = std::ranges::find(counted_calls_, site, &CountedCall::site);
  if (found == counted_calls_.end()) {
    if (counted_calls_.size() == most_loops) return;
    found = counted_calls_.insert(counted_calls_.end(), CountedCall{call, site});
  }
  ++found->calls, found->bytes += bytes, found->inside += end - begin;
}

// ---- one for each thread

namespace {

// Never destroyed: threads may call until the process has ended.
struct Watchers {
  std::mutex mutex;
  std::vector<Watcher*> all, idle;
};
Watchers& watchers() { return lasting<Watchers>(); }

__attribute__((tls_model("initial-exec"))) thread_local constinit Watcher* mine = nullptr;

// Gives it back when the thread ends.
struct Returned {
  ~Returned() {
    if (!mine) return;
    const std::lock_guard lock(watchers().mutex);
    mine->close_all();
    watchers().idle.push_back(mine);
    mine = nullptr;
  }
};

Watcher* take() noexcept try {
  const std::lock_guard lock(watchers().mutex);
  if (watchers().idle.empty()) {
    watchers().idle.reserve(watchers().all.size() + 1);
    watchers().all.push_back(new Watcher);
    watchers().idle.push_back(watchers().all.back());
  }
  Watcher* const taken = watchers().idle.back();
  watchers().idle.pop_back();
  return taken;
} catch (...) {
  return nullptr;
}

}  // namespace

Watcher* this_threads_watcher() noexcept {
  if (mine) [[likely]]
    return mine;
  mine = take();
  static thread_local const Returned returned;
  return mine;
}

std::vector<Watcher*> all_watchers() {
  const std::lock_guard lock(watchers().mutex);
  return watchers().all;
}

void join_threads() {
  const std::vector<Watcher*> all = all_watchers();
  for (std::size_t k = 1; k < all.size(); ++k)
    for (std::size_t before = 0; before < k; ++before) all[before]->join(*all[k]);
}

}  // namespace tonari::watch
