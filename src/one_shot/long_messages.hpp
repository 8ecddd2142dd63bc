// SPDX-License-Identifier: BSD-3-Clause
// How long messages of one-shot calls travel through shared memory: in parts, or read where they
// lie. Near cores copy twice in less time than the system call takes; for far ones it is the other
// way round. So the first calls try both, the faster one is kept, and now and then they are
// compared again (ADRs 20 and 52). Each rank decides for what it sends.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/checked.hpp"

namespace tonari {

class LongMessages {
 public:
  // Shorter messages travel in parts, longer ones are read where they lie.
  static constexpr Bytes least = std::size_t{16} << 10, most = std::size_t{16} << 20;
  static constexpr std::uint32_t samples = 5, calls_in_turn = 8;
  using Clock = std::chrono::steady_clock;

  enum class Sample : std::uint8_t {
    call,  // the time of one
    // The mean of several in a row but the first. Where ranks share cores, one call is short
    // because another rank's was long, and only several in a row take what the program loses.
    turn
  };
  explicit LongMessages(Sample sample = Sample::call) : sample_(sample) {}

  // After so many both are compared again.
  std::uint32_t calls_between() const { return sample_ == Sample::call ? 4096 : 16'384; }

  // An exchange begins whose longest message between the limits has so many bytes; 0: it has none.
  // Returns whether such messages are to be read where they lie. While both are tried, ranks that
  // have begun equally many exchanges get equal answers: the times of one then do not depend on
  // which one the others try.
  bool begin(Bytes longest);
  // Whether the time of this exchange is asked for. It counts what is spent in calls, not between.
  bool timed() const { return trying_ != nullptr; }
  void took(Clock::duration time);

 private:
  struct Protocol {
    std::array<Clock::duration, samples> times{};
    std::uint32_t known = 0;  // of them
    // The turn that runs, its first call and the sum of the others.
    std::uint64_t turn = 0;
    std::uint32_t calls = 0;
    Clock::duration first{}, others{};

    bool enough() const { return known == samples; }
    void add(Clock::duration time);
    void end_turn();
  };
  struct Size {                         // messages of one power of two
    std::array<Protocol, 2> protocols;  // in parts, read
    std::optional<bool> reads;
    std::uint32_t calls = 0;  // since that was decided
  };
  bool decided(Size& size) const;
  std::uint64_t turn() const { return calls_ / calls_in_turn; }
  void add_call(Protocol& protocol, Clock::duration time) const;
  bool reading_pays(Size& size) const;

  Sample sample_;
  std::array<Size, std::bit_width(most - 1) - std::bit_width(least) + 1> sizes_;
  std::uint64_t calls_ = 0;
  Size* trying_ = nullptr;
  bool reads_ = false;
};

}  // namespace tonari
