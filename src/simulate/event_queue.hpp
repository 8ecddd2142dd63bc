// SPDX-License-Identifier: BSD-3-Clause
// The events that are still to come, in the order of time and, at one time, of their numbers.
//
// A ring of bins covers the near future. An event is written once into its bin, which is sorted
// when its turn comes:
//
//   now (sorted) ── bin ── bin ── bin ── ... ── far (everything behind the ring)
//     └ soon (heap): what is added to the bin whose turn it is
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/machine.hpp"

namespace tonari::sim {

struct Event {
  Ticks time;
  std::uint32_t order;  // unique among events at one time
  std::uint32_t what;   // of whoever uses the queue
};

class EventQueue {
 public:
  // ahead: how far ahead of the present event most others lie.
  explicit EventQueue(Ticks ahead);

  bool empty() const { return size_ == 0; }
  // Its time must not be before that of the event popped last.
  void push(const Event& event);
  Event pop();
  // The event that is probably popped so many pops later; null: unknown.
  const Event* peek(std::size_t later) const {
    return at_ + later < now_.size() ? &now_[at_ + later] : nullptr;
  }

 private:
  static constexpr std::size_t bins = 4096;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Chunk {
    Event events[63];
    std::uint32_t count, next;
  };

  std::uint64_t bin_of(Ticks time) const { return (time >> shift_) + 1; }
  void put(std::uint64_t bin, const Event& event);
  void next_bin();
  std::uint64_t next_in_ring() const;
  void near_from_far();
  void take(std::size_t place);
  std::uint32_t new_chunk();

  int shift_ = 0;
  std::uint64_t current_ = 0;  // bin 0 is before all times
  std::size_t size_ = 0;
  std::size_t at_ = 0;  // in now_
  std::vector<Event> now_, soon_, far_;
  std::uint64_t least_far_ = ~std::uint64_t{0};  // bin
  std::vector<std::uint32_t> heads_;             // chunk of each bin in the ring
  std::vector<std::uint64_t> filled_;            // a bit per bin
  std::vector<std::unique_ptr<Chunk[]>> slabs_;  // chunks never move
  std::uint32_t chunks_ = 0, free_ = none;
  std::vector<std::uint32_t> taken_;
};

}  // namespace tonari::sim
