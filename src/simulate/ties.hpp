// SPDX-License-Identifier: BSD-3-Clause
// Looks for moments at which the number of another rank decided what a rank does first. Where there
// is one, ranks that do the same may differ, and one of them cannot stand for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/machine.hpp"

namespace tonari::sim {

class Ties {
 public:
  // Without watching, nothing but `watching` may be called, and nothing is kept.
  Ties(bool watching, std::size_t slots)
      : watching_(watching), steps_(watching ? slots : 0), messages_(watching ? slots : 0) {}

  bool watching() const { return watching_; }
  bool tied() const { return tied_; }
  void found() { tied_ = true; }

  // When the number of a step or a message was given. Steps at the start are before all messages.
  void step_made(std::uint32_t slot, Ticks now, bool at_start) {
    steps_[slot] = at_start ? 0 : now + 1;
  }
  void message_made(std::uint32_t slot, Ticks now) { messages_[slot] = now + 1; }
  Ticks made(std::uint32_t slot, bool message) const {
    return message ? messages_[slot] : steps_[slot];
  }

  // Two wait for the same.
  void compare(std::uint32_t a, bool a_is_message, std::uint32_t b, bool b_is_message) {
    if ((a_is_message || b_is_message) && made(a, a_is_message) == made(b, b_is_message))
      tied_ = true;
  }
  // One goes on.
  void goes(Ticks now, Ticks made_at, bool message) {
    if (now == last_now_ && made_at == last_made_ && (message || last_message_)) tied_ = true;
    last_now_ = now, last_made_ = made_at, last_message_ = message;
  }

 private:
  bool watching_;
  std::vector<Ticks> steps_, messages_;
  bool tied_ = false, last_message_ = false;
  Ticks last_now_ = never, last_made_ = never;
};

}  // namespace tonari::sim
