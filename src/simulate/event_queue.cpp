// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace tonari::sim {
namespace {

constexpr std::uint32_t slab = 1024;  // chunks that are allocated at once

struct Earlier {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
};
struct Later {
  bool operator()(const Event& a, const Event& b) const { return Earlier()(b, a); }
};

}  // namespace

EventQueue::EventQueue(Ticks ahead) : heads_(bins, none), filled_(bins / 64) {
  const Ticks width = ahead / (bins / 2) + 1;
  shift_ = static_cast<int>(std::bit_width(width));
}

void EventQueue::push(const Event& event) {
  ++size_;
  const std::uint64_t bin = bin_of(event.time);
  if (bin <= current_) {
    soon_.push_back(event);
    std::push_heap(soon_.begin(), soon_.end(), Later());
  } else {
    put(bin, event);
  }
}

void EventQueue::put(std::uint64_t bin, const Event& event) {
  if (bin - current_ >= bins) {
    least_far_ = std::min(least_far_, bin);
    far_.push_back(event);
    return;
  }
  const std::size_t place = bin % bins;
  std::uint32_t head = heads_[place];
  if (head == none || slabs_[head / slab][head % slab].count == std::size(Chunk{}.events)) {
    const std::uint32_t chunk = new_chunk();
    slabs_[chunk / slab][chunk % slab].next = head;
    heads_[place] = head = chunk;
    filled_[place / 64] |= std::uint64_t{1} << place % 64;
  }
  Chunk& chunk = slabs_[head / slab][head % slab];
  chunk.events[chunk.count++] = event;
}

std::uint32_t EventQueue::new_chunk() {
  std::uint32_t chunk = free_;
  if (chunk != none) {
    free_ = slabs_[chunk / slab][chunk % slab].next;
  } else {
    chunk = chunks_++;
    if (chunk % slab == 0) slabs_.push_back(std::make_unique_for_overwrite<Chunk[]>(slab));
  }
  slabs_[chunk / slab][chunk % slab].count = 0;
  return chunk;
}

Event EventQueue::pop() {
  if (at_ == now_.size() && soon_.empty()) next_bin();
  --size_;
  if (soon_.empty() || (at_ < now_.size() && Earlier()(now_[at_], soon_.front())))
    return now_[at_++];
  std::pop_heap(soon_.begin(), soon_.end(), Later());
  const Event event = soon_.back();
  soon_.pop_back();
  return event;
}

// Bins of the ring lie between current_ and current_ + bins; none: the greatest number.
std::uint64_t EventQueue::next_in_ring() const {
  for (std::uint64_t bin = current_ + 1; bin < current_ + bins;) {
    const std::size_t place = bin % bins;
    const std::uint64_t bits = filled_[place / 64] >> place % 64;
    if (bits) {
      const std::uint64_t found = bin + static_cast<unsigned>(std::countr_zero(bits));
      return found < current_ + bins ? found : ~std::uint64_t{0};
    }
    bin += 64 - place % 64;
  }
  return ~std::uint64_t{0};
}

void EventQueue::next_bin() {
  now_.clear();
  at_ = 0;
  const std::uint64_t bin = std::min(next_in_ring(), least_far_);
  current_ = bin - 1;
  if (least_far_ <= bin) near_from_far();
  current_ = bin;
  take(bin % bins);
}

void EventQueue::near_from_far() {
  std::vector<Event> all;
  all.swap(far_);
  least_far_ = ~std::uint64_t{0};
  for (const Event& event : all) put(bin_of(event.time), event);
}

// The first chunk of a bin is the one filled last, so they are taken backwards: events of ranks
// that do alike come in order then.
void EventQueue::take(std::size_t place) {
  taken_.clear();
  for (std::uint32_t c = heads_[place]; c != none; c = slabs_[c / slab][c % slab].next)
    taken_.push_back(c);
  for (auto c = taken_.rbegin(); c != taken_.rend(); ++c) {
    const Chunk& chunk = slabs_[*c / slab][*c % slab];
    now_.insert(now_.end(), chunk.events, chunk.events + chunk.count);
  }
  if (!taken_.empty()) {
    slabs_[taken_.back() / slab][taken_.back() % slab].next = free_;
    free_ = heads_[place];
  }
  heads_[place] = none;
  filled_[place / 64] &= ~(std::uint64_t{1} << place % 64);
  if (!std::is_sorted(now_.begin(), now_.end(), Earlier()))
    std::sort(now_.begin(), now_.end(), Earlier());
}

}  // namespace tonari::sim
