// SPDX-License-Identifier: BSD-3-Clause
#include "watch/epochs.hpp"

#include <execinfo.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/lasting.hpp"

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

bool is_full(const Epoch& epoch) { return epoch.count > most_messages; }

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

// Those above the place where this thread is now.
Callers callers_above(const void* site) {
  std::array<void*, 32> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  auto next = std::find(frames.begin(), end, site);
  Callers callers{};
  for (std::size_t k = 0; k < callers.size() && next != end && ++next != end; ++k)
    callers[k] = *next;
  return callers;
}

std::vector<Message> messages_of(const Epoch& epoch) {
  return {epoch.messages.begin(),
          epoch.messages.begin() + static_cast<std::ptrdiff_t>(epoch.count)};
}

void keep(Pattern& pattern, const Epoch& epoch) {
  pattern =
      Pattern{.signature = epoch.signature,
              .partners = epoch.partners,
              .first = epoch.begin,
              .messages = messages_of(epoch),
              .sizes = {},
              .callers = epoch.waited_at ? epoch.callers : callers_above(epoch.messages[0].site)};
}

Pattern* known_pattern(const Loop& loop, const Epoch& epoch) {
  for (const auto& pattern : loop.patterns)
    if (pattern->varies ? pattern->partners == epoch.partners
                        : pattern->signature == epoch.signature)
      return pattern.get();
  return nullptr;
}

void add(Pattern& pattern, const Pattern& other) {
  pattern.epochs += other.epochs, pattern.inside += other.inside;
  pattern.stretches += other.stretches;
  pattern.first = std::min(pattern.first, other.first);
  pattern.last = std::max(pattern.last, other.last);
  for (std::size_t k = 0; k < std::min<std::uint64_t>(other.timed, kept_times); ++k) {
    const std::size_t at = pattern.timed++ % kept_times;
    pattern.exchange[at] = other.exchange[k], pattern.step[at] = other.step[k];
  }
}

// The loop's patterns with these partners, in the order in which they came.
std::vector<Pattern*> with_partners(const Loop& loop, std::uint64_t partners) {
  std::vector<Pattern*> found;
  for (const auto& pattern : loop.patterns)
    if (pattern->partners == partners) found.push_back(pattern.get());
  std::ranges::sort(found, {}, &Pattern::first);
  return found;
}

// They become one, whose sizes change.
Pattern* joined(Loop& loop, const std::vector<Pattern*>& patterns) {
  Pattern& into = *patterns.front();
  into.varies = true;
  into.signature = into.partners;
  into.sizes.came_next(into.messages);
  for (Pattern* const other : patterns) {
    if (other == &into) continue;
    into.sizes.came_next(other->messages);
    if (other->last > into.last) into.last_inside = other->last_inside;
    add(into, *other);
    std::erase_if(loop.patterns, [&](const auto& one) { return one.get() == other; });
  }
  return &into;
}

constexpr std::size_t fewest_sizes = 3;  // to say that they change

// Room for one more pattern: partners with many sizes become one pattern, or one that came once
// gives its place away. Null: all of the patterns came again.
Pattern* make_room(Loop& loop, const Epoch& epoch) {
  const std::vector<Pattern*> same = with_partners(loop, epoch.partners);
  if (same.size() >= fewest_sizes) return joined(loop, same);
  for (std::size_t k = 0; k < loop.patterns.size(); ++k) {
    const std::vector<Pattern*> others = with_partners(loop, loop.patterns[k]->partners);
    if (others.size() < fewest_sizes) continue;
    joined(loop, others);
    loop.patterns.push_back(std::make_unique<Pattern>());
    keep(*loop.patterns.back(), epoch);
    return loop.patterns.back().get();
  }
  const auto once = std::ranges::find(loop.patterns, 1U, &Pattern::epochs);
  if (once == loop.patterns.end()) return nullptr;
  ++loop.others;
  keep(**once, epoch);
  return once->get();
}

// The pattern's record; null: the loop has others, all of which came again.
Pattern* pattern_of(Loop& loop, const Epoch& epoch) {
  if (Pattern* const known = known_pattern(loop, epoch)) return known;
  ++loop.distinct;
  if (is_full(epoch)) return nullptr;
  if (loop.patterns.size() == most_patterns) return make_room(loop, epoch);
  loop.patterns.push_back(std::make_unique<Pattern>());
  keep(*loop.patterns.back(), epoch);
  return loop.patterns.back().get();
}

// Whether the last epoch with these partners had other sizes, or there was none.
bool changes_sizes(Loop& loop, const Epoch& epoch) {
  const auto last = std::ranges::find(loop.lasts, epoch.partners, &Loop::Last::partners);
  if (last == loop.lasts.end()) {
    if (loop.lasts.size() < most_patterns) loop.lasts.push_back({epoch.partners, epoch.signature});
    return true;
  }
  return std::exchange(last->signature, epoch.signature) != epoch.signature;
}

void count(Pattern& pattern, const Epoch& epoch, bool changed) {
  pattern.stretches += changed;
  if (pattern.varies && changed && !is_full(epoch)) pattern.sizes.came_next(messages_of(epoch));
  if (pattern.epochs) {
    const std::size_t at = pattern.timed++ % kept_times;
    pattern.exchange[at] = static_cast<float>(pattern.last_inside);
    pattern.step[at] = static_cast<float>(epoch.begin - pattern.last);
  }
  pattern.last = epoch.begin;
  pattern.last_inside = epoch.inside;
  pattern.inside += epoch.inside;
  ++pattern.epochs;
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

void ChangingSizes::came_next(std::vector<Message> messages) {
  std::ranges::stable_sort(messages, {},
                           [](const Message& m) { return std::pair(m.peer, m.sent); });
  if (came == 0) largest = messages;
  for (std::size_t k = 0; k < messages.size(); ++k)
    largest[k].bytes = std::max(largest[k].bytes, messages[k].bytes);
  if (came++ % every) return;
  if (kept.size() == kept_sizes) {
    for (std::size_t k = 0; k < kept_sizes / 2; ++k) kept[k] = std::move(kept[2 * k]);
    kept.resize(kept_sizes / 2);
    every *= 2;
  }
  kept.push_back(std::move(messages));
}

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
  // Only where it is new: looking at the stack takes microseconds.
  const Loop* const loop = known_loop(epoch);
  if (!loop || !known_pattern(*loop, epoch)) epoch.callers = callers_above(site);
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
    const bool changed = changes_sizes(*loop, epoch);
    Pattern* const pattern = pattern_of(*loop, epoch);
    if (pattern)
      count(*pattern, epoch, changed);
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

namespace {

void join_sizes(Loop& loop) {
  const auto came_once = [](const Pattern* one) { return one->stretches <= 1 || one->varies; };
  for (const Loop::Last& last : loop.lasts) {
    const std::vector<Pattern*> same = with_partners(loop, last.partners);
    if (same.size() >= fewest_sizes && std::ranges::all_of(same, came_once)) joined(loop, same);
  }
}

void bring_together(Loop& loop) {
  std::uint64_t most = 0;
  for (const auto& pattern : loop.patterns) most = std::max(most, pattern->epochs);
  std::vector<const Pattern*> in_turn;
  for (const auto& pattern : loop.patterns)
    if (most - pattern->epochs <= most / 10) in_turn.push_back(pattern.get());
  std::ranges::sort(in_turn, {}, &Pattern::first);
  loop.together = std::make_unique<Pattern>();
  loop.parts = in_turn.size();
  loop.together->epochs = most;
  for (const Pattern* const one : in_turn) {
    loop.together->inside += one->inside;
    loop.together->varies |= one->varies;
    loop.together->messages.insert(loop.together->messages.end(), one->messages.begin(),
                                   one->messages.end());
  }
}

}  // namespace

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
