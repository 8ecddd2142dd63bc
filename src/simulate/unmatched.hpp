// SPDX-License-Identifier: BSD-3-Clause
// Of schedules whose messages meet their receives as they come, as MPI's do: what waits for the
// other at each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/slots.hpp"

namespace tonari::sim {

class Unmatched {
 public:
  explicit Unmatched(std::size_t ranks) : receives_(ranks), messages_(ranks) {}

  // The first receive that a message fits, which then waits no more. Without one the message waits.
  template <class Fits>
  std::uint32_t meet_message(std::vector<Slot>& slots, std::uint32_t rank, std::uint32_t message,
                             Fits fits) {
    return first_of(slots, receives_[rank], message, fits, messages_[rank]);
  }
  // The same for a receive.
  template <class Fits>
  std::uint32_t meet_receive(std::vector<Slot>& slots, std::uint32_t rank, std::uint32_t receive,
                             Fits fits) {
    return first_of(slots, messages_[rank], receive, fits, receives_[rank]);
  }

 private:
  struct List {  // of slots
    std::uint32_t head = nothing, tail = nothing;
  };

  // Takes the first that fits out of a list. Without one, `newcomer` joins the other list.
  template <class Fits>
  static std::uint32_t first_of(std::vector<Slot>& slots, List& list, std::uint32_t newcomer,
                                Fits fits, List& other) {
    std::uint32_t before = nothing;
    for (std::uint32_t id = list.head; id != nothing; before = id, id = slots[id].next) {
      if (!fits(id)) continue;
      (before == nothing ? list.head : slots[before].next) = slots[id].next;
      if (list.tail == id) list.tail = before;
      return id;
    }
    slots[newcomer].next = nothing;
    (other.head == nothing ? other.head : slots[other.tail].next) = newcomer;
    other.tail = newcomer;
    return nothing;
  }

  std::vector<List> receives_, messages_;
};

}  // namespace tonari::sim
