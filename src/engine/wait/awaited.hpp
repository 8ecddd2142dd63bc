// SPDX-License-Identifier: BSD-3-Clause
// What an exchange that runs waits for, as far as this rank can see: messages, and the ranks at
// their other ends. It has room for a few and counts the rest, so that nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "channels/node.hpp"

namespace tonari {

// The process of a rank that is on this node; 0 if it is elsewhere, or no node is known.
std::int64_t process_of(const Node* node, std::int32_t rank);
// Throws Errc::peer if the rank is on this node and has ended.
void check_alive(const Node* node, std::int32_t rank);

class Awaited {
 public:
  enum class What : std::uint8_t {
    message,   // from the rank
    taking,    // that the rank takes a message
    swap,      // that the rank swaps a block with this one
    entering,  // that the rank does its part of something that it shares with this one
  };
  struct One {
    What what;
    std::int32_t rank;
    std::int64_t process;  // 0: not on this node
    Bytes done, bytes;     // of the message; 0 bytes: not known
  };
  static constexpr std::size_t most = 8;

  void add(What what, const Node* node, std::int32_t rank, Bytes done = 0, Bytes bytes = 0);
  // What else there is to say, in constant words: "MPI does not tell ..."
  void note(const char* words) { note_ = words; }
  // In which call: its name lives at least as long as this.
  void in(const std::string* call) { call_ = call ? call->c_str() : call_; }
  void in(const char* call) { call_ = call; }
  // Of several exchanges in turn.
  void step(std::size_t number, std::size_t of) { step_ = number, steps_ = of; }

  std::span<const One> some() const { return std::span(some_).first(count_); }
  std::size_t more() const { return more_; }  // than those
  const char* note() const { return note_; }
  const char* call() const { return call_; }
  std::size_t step() const { return step_; }
  std::size_t steps() const { return steps_; }
  bool nothing() const { return count_ == 0 && !note_; }

 private:
  std::array<One, most> some_;
  std::size_t count_ = 0, more_ = 0, step_ = 0, steps_ = 0;
  const char* note_ = nullptr;
  const char* call_ = "an exchange";
};

}  // namespace tonari
