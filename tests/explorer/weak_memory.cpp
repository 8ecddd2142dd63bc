// SPDX-License-Identifier: BSD-3-Clause
#include "explorer/weak_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tonari::explorer {
namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

void View::join_seen(const View& other) {
  for (std::size_t k = 0; k < seen.size(); ++k) seen[k] = std::max(seen[k], other.seen[k]);
}

void View::join(const View& other) {
  join_seen(other);
  for (std::size_t k = 0; k < clock.size(); ++k) clock[k] = std::max(clock[k], other.clock[k]);
}

WeakMemory::WeakMemory(std::byte* base, std::size_t bytes, Choose choose, Fail fail)
    : base_(base), bytes_(bytes), choose_(std::move(choose)), fail_(std::move(fail)) {}

void WeakMemory::begin(std::size_t threads, std::size_t bytes) {
  threads_.assign(threads, {});
  kept_.clear();
  fences_ = {};
  accesses_.assign(bytes / 8 + 1, {});
  known_ = words_.size();
  grown_ = false;
  for (Word& word : words_) {
    word.order.assign(1, {0, {}, false, true});
    catch_up(word);
  }
}

bool WeakMemory::covers(const void* at) const { return at >= base_ && at < base_ + bytes_; }

std::size_t WeakMemory::word(void* at, std::size_t bytes) {
  const auto found =
      std::find_if(words_.begin(), words_.end(), [&](const Word& word) { return word.at == at; });
  if (found != words_.end()) return static_cast<std::size_t>(found - words_.begin());
  if (words_.size() == most_words) fail_("more atomic words than views hold");
  words_.push_back({static_cast<std::byte*>(at), bytes, {{0, {}, false, true}}, {}, {}});
  return words_.size() - 1;
}

// An ordinary store is seen before it happens; its value is in memory by the next access.
void WeakMemory::catch_up(Word& word) {
  Message& last = word.order.back();
  if (!last.plain) return;
  std::memcpy(&last.value, word.at, word.bytes);
  last.plain = false;
}

void WeakMemory::begin_atomic(std::size_t thread, std::size_t number, std::memory_order order) {
  if (order == std::memory_order_seq_cst) fail_("only fences of order seq_cst are modeled");
  Word& word = words_[number];
  catch_up(word);
  ++threads_[thread].now.clock[thread];
  expect_before(thread, accesses(word.at).written, word.at, "a write");
}

WeakMemory::Accesses& WeakMemory::accesses(const void* at) {
  return accesses_[static_cast<std::size_t>(static_cast<const std::byte*>(at) - base_) / 8];
}

// Ordinary accesses belong to the next atomic operation: what was released before does not cover
// them.
std::uint16_t WeakMemory::next_step(std::size_t thread) const {
  return static_cast<std::uint16_t>(threads_[thread].now.clock[thread] + 1);
}

const std::byte* WeakMemory::next_word(const std::byte* at) const {
  return base_ + ((at - base_) / 8 + 1) * 8;
}

void WeakMemory::expect_before(std::size_t thread, const Steps& steps, const void* at,
                               const char* what) {
  for (std::size_t other = 0; other < threads_.size(); ++other) {
    if (other == thread || steps[other] <= threads_[thread].now.clock[other]) continue;
    fail_(std::string("data race: ") + what + " of rank " + std::to_string(other) + ", at byte " +
          std::to_string(static_cast<const std::byte*>(at) - base_) +
          ", is not ordered before an access of rank " + std::to_string(thread));
  }
}

WeakMemory::Message WeakMemory::message(std::size_t thread, std::size_t word, std::size_t at,
                                        Value value, bool releasing) {
  const Knowledge& own = threads_[thread];
  Message made{value, releasing ? own.now : own.by_release_fence};
  made.view.seen[word] = static_cast<std::uint8_t>(at);
  return made;
}

void WeakMemory::shift(View& view, std::size_t word, std::size_t from) const {
  if (view.seen[word] >= from) ++view.seen[word];
}

void WeakMemory::insert(std::size_t thread, std::size_t number, std::size_t at,
                        const Message& message) {
  Word& word = words_[number];
  if (at < word.order.size()) {
    for (std::vector<Knowledge>* all : {&threads_, &kept_})
      for (Knowledge& each : *all)
        for (View* view : {&each.now, &each.by_acquire_fence, &each.by_release_fence})
          shift(*view, number, at);
    shift(fences_, number, at);
    for (Word& other : words_)
      for (Message& old : other.order) shift(old.view, number, at);
  }
  word.order.insert(word.order.begin() + static_cast<std::ptrdiff_t>(at), message);
  if (word.order.size() > 250) fail_("more stores to a word than views count");
  threads_[thread].now.seen[number] = static_cast<std::uint8_t>(at);
  std::memcpy(word.at, &word.order.back().value, word.bytes);
}

// The message to read: the newest first. A modification goes right behind the one that it reads, if
// nothing else does.
std::size_t WeakMemory::pick_load(std::size_t thread, std::size_t number, bool to_modify,
                                  Value wanted, bool any_value) {
  const std::vector<Message>& order = words_[number].order;
  std::vector<std::size_t> possible;
  for (std::size_t k = order.size(); k-- > threads_[thread].now.seen[number];) {
    const bool changes = to_modify && (any_value || order[k].value == wanted);
    if (!changes || k + 1 == order.size() || !order[k + 1].attached) possible.push_back(k);
  }
  return possible[choose_(possible.size())];
}

WeakMemory::Value WeakMemory::take(std::size_t thread, std::size_t number, std::size_t at,
                                   bool acquiring) {
  const Message& message = words_[number].order[at];
  Knowledge& own = threads_[thread];
  own.now.seen[number] = static_cast<std::uint8_t>(at);
  own.by_acquire_fence.join(message.view);
  if (acquiring) own.now.join(message.view);
  return message.value;
}

WeakMemory::Value WeakMemory::load(std::size_t thread, void* at, std::size_t bytes,
                                   std::memory_order order) {
  const std::size_t number = word(at, bytes);
  begin_atomic(thread, number, order);
  const std::size_t chosen = pick_load(thread, number, false, 0, true);
  accesses(at).loaded[thread] = threads_[thread].now.clock[thread];
  return take(thread, number, chosen, acquires(order));
}

void WeakMemory::store(std::size_t thread, void* at, std::size_t bytes, Value value,
                       std::memory_order order) {
  const std::size_t number = word(at, bytes);
  begin_atomic(thread, number, order);
  expect_before(thread, accesses(at).read, at, "a read");
  const std::vector<Message>& all = words_[number].order;
  std::vector<std::size_t> possible;
  for (std::size_t k = all.size(); k > threads_[thread].now.seen[number]; --k)
    if (k == all.size() || !all[k].attached) possible.push_back(k);
  const std::size_t place = possible[choose_(possible.size())];
  accesses(at).stored[thread] = threads_[thread].now.clock[thread];
  insert(thread, number, place, message(thread, number, place, value, releases(order)));
}

WeakMemory::Value WeakMemory::modify(std::size_t thread, void* at, std::size_t bytes,
                                     std::memory_order order,
                                     const std::function<Value(Value)>& change) {
  const std::size_t number = word(at, bytes);
  begin_atomic(thread, number, order);
  expect_before(thread, accesses(at).read, at, "a read");
  const std::size_t read = pick_load(thread, number, true, 0, true);
  const Value before = take(thread, number, read, acquires(order));
  Message made = message(thread, number, read + 1, change(before), releases(order));
  made.view.join(words_[number].order[read].view);  // the release sequence goes on
  made.attached = true;
  accesses(at).stored[thread] = threads_[thread].now.clock[thread];
  insert(thread, number, read + 1, made);
  return before;
}

WeakMemory::Value WeakMemory::compare_exchange(std::size_t thread, void* at, std::size_t bytes,
                                               Value expected, Value value,
                                               std::memory_order success,
                                               std::memory_order failure) {
  const std::size_t number = word(at, bytes);
  begin_atomic(thread, number, success);
  const std::size_t read = pick_load(thread, number, true, expected, false);
  const bool same = words_[number].order[read].value == expected;
  const Value before = take(thread, number, read, acquires(same ? success : failure));
  accesses(at).loaded[thread] = threads_[thread].now.clock[thread];
  if (!same) return before;
  expect_before(thread, accesses(at).read, at, "a read");
  Message made = message(thread, number, read + 1, value, releases(success));
  made.view.join(words_[number].order[read].view);
  made.attached = true;
  accesses(at).stored[thread] = threads_[thread].now.clock[thread];
  insert(thread, number, read + 1, made);
  return before;
}

// A fence of order seq_cst sees what was before all earlier ones, and later ones see what it sees;
// they do not synchronize by that.
void WeakMemory::fence(std::size_t thread, std::memory_order order) {
  ++threads_[thread].now.clock[thread];
  Knowledge& own = threads_[thread];
  if (acquires(order)) own.now.join(own.by_acquire_fence);
  if (order == std::memory_order_seq_cst) {
    own.now.join_seen(fences_);
    fences_.join_seen(own.now);
  }
  if (releases(order)) own.by_release_fence = own.now;
}

void WeakMemory::read(std::size_t thread, const void* at, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(at);
  for (const std::byte* each = begin; each < begin + bytes; each = next_word(each)) {
    Accesses& all = accesses(each);
    expect_before(thread, all.written, each, "a write");
    expect_before(thread, all.stored, each, "an atomic store");
    all.read[thread] = next_step(thread);
  }
}

void WeakMemory::write(std::size_t thread, const void* at, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(at);
  for (const std::byte* each = begin; each < begin + bytes; each = next_word(each)) {
    Accesses& all = accesses(each);
    expect_before(thread, all.written, each, "a write");
    expect_before(thread, all.stored, each, "an atomic store");
    expect_before(thread, all.read, each, "a read");
    expect_before(thread, all.loaded, each, "an atomic load");
    all.written[thread] = next_step(thread);
  }
  for (std::size_t k = 0; k < words_.size(); ++k) {
    Word& word = words_[k];
    if (word.at + word.bytes <= begin || word.at >= begin + bytes) continue;
    catch_up(word);
    const std::size_t place = word.order.size();
    Message made{0, {}, false, true};
    made.view.seen[k] = static_cast<std::uint8_t>(place);
    word.order.push_back(made);
    threads_[thread].now.seen[k] = static_cast<std::uint8_t>(place);
  }
}

void WeakMemory::synchronize(std::size_t thread, std::size_t from) {
  threads_[thread].now.join(threads_[from].now);
  threads_[thread].now.clock[from] = next_step(from);
}

void WeakMemory::use(std::size_t thread, void* at, std::size_t bytes, bool stores) {
  Word& used = words_[word(at, bytes)];
  bool& known = stores ? used.stored[thread] : used.loaded[thread];
  grown_ |= !known;
  known = true;
}

bool WeakMemory::concerns_others(std::size_t thread, void* at, std::size_t bytes, bool stores) {
  const Word& used = words_[word(at, bytes)];
  for (std::size_t k = 0; k < most_threads; ++k)
    if (k != thread && (used.stored[k] || (stores && used.loaded[k]))) return true;
  return false;
}

std::size_t WeakMemory::keep(std::size_t thread) {
  kept_.push_back(threads_[thread]);
  return kept_.size() - 1;
}

void WeakMemory::forget_since(std::size_t thread, std::size_t kept) {
  threads_[thread] = kept_[kept];
}

void WeakMemory::hash(const std::function<void(std::uint64_t)>& add) const {
  const auto add_view = [&](const View& view) {
    for (std::size_t k = 0; k < words_.size(); k += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, view.seen.data() + k, 8);
      add(eight);
    }
    std::uint64_t steps = 0;
    for (const std::uint16_t step : view.clock) steps = steps << 16 | step;
    add(steps);
  };
  for (const Word& word : words_) {
    add(word.order.size());
    for (const Message& message : word.order) {
      add(message.plain ? 0 : message.value);
      add(message.attached * 2 + message.plain);
      add_view(message.view);
    }
  }
  for (const Knowledge& thread : threads_)
    for (const View* view : {&thread.now, &thread.by_acquire_fence, &thread.by_release_fence})
      add_view(*view);
  add_view(fences_);
}

}  // namespace tonari::explorer
