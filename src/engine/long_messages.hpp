// SPDX-License-Identifier: BSD-3-Clause
// How long messages of one-shot calls travel through shared memory: in parts, or read where they
// lie. Near cores copy twice in less time than the system call takes; for far ones, and for ranks
// that share a core, it is the other way round. So the first calls try both, the faster one is
// kept, and now and then they are compared again (ADR 20). Each rank decides for what it sends.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/checked.hpp"

namespace tonari {

class LongMessages {
 public:
  // Shorter messages travel in parts, longer ones are read where they lie.
  static constexpr Bytes least = std::size_t{16} << 10, most = std::size_t{256} << 10;
  static constexpr std::uint32_t samples = 5, calls_between = 4096;
  using Clock = std::chrono::steady_clock;

  // An exchange begins whose longest message between the limits has so many bytes; 0: it has none.
  // Returns whether such messages are to be read where they lie. While both are tried, ranks that
  // have begun equally many exchanges get equal answers: the times of one way then do not depend on
  // which one the others try.
  bool begin(Bytes longest);
  // Whether the time of this exchange is asked for. It counts what is spent in calls, not between.
  bool timed() const { return trying_ != nullptr; }
  void took(Clock::duration time);

 private:
  struct Way {
    std::uint32_t calls = 0;
    Clock::duration best = Clock::duration::max();
  };
  struct Size {               // messages of one power of two
    std::array<Way, 2> ways;  // in parts, read
    std::optional<bool> reads;
    std::uint32_t calls = 0;  // since that was decided
  };
  bool decided(Size& size);

  std::array<Size, 4> sizes_;
  std::uint64_t calls_ = 0;
  Size* trying_ = nullptr;
  bool reads_ = false;
};

}  // namespace tonari
