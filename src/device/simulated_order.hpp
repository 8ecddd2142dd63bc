// SPDX-License-Identifier: BSD-3-Clause
// What the rules order, and what they do not: vector clocks of streams, and for each byte of memory
// who wrote and read it last. Two accesses of which one writes are an error unless an event, a flag
// or the host orders them, even where this run happened to have them in the right order.
//
// Of several reads that nothing orders only the last one is known. Accesses by the host and by
// other processes are not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tonari {

// Streams have numbers below this; 0 is the host.
inline constexpr int most_simulated_streams = 32;

// How much of each stream is known to be complete.
class SimulatedClock {
 public:
  void join(const SimulatedClock& other) {
    for (std::size_t i = 0; i < known_.size(); ++i)
      known_[i] = known_[i] < other.known_[i] ? other.known_[i] : known_[i];
  }
  void tick(int stream) { ++known_[static_cast<std::size_t>(stream)]; }
  std::uint32_t of(int stream) const { return known_[static_cast<std::size_t>(stream)]; }

 private:
  std::array<std::uint32_t, most_simulated_streams> known_{};
};

// Of one byte: stream and time in one number; 0: nobody.
struct SimulatedTouch {
  std::uint32_t written = 0, read = 0;
};

struct SimulatedAccess {
  int stream;
  const SimulatedClock& clock;  // of that stream
  bool writes;
};

// Notes an access to `bytes` bytes. Returns the stream whose access nothing orders before this one,
// or -1.
int note_access(SimulatedTouch* touched, std::size_t bytes, const SimulatedAccess& access);

}  // namespace tonari
