// SPDX-License-Identifier: BSD-3-Clause
// The buffers of a request that its next start may replace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "channels/arguments.hpp"

namespace tonari {

// One buffer, as it was at init. Several may be one space: they keep their distances.
struct StartBuffer {
  SpaceId space;
  std::string name;  // of the argument
  const void* address;
  AddressSpan touched = {};  // by the exchange
  bool on_gpu = false;       // so the one that replaces it must be, too

  void touch(const Block& block) {
    if (block.bytes > 0) touched.add(span_of(block));
  }
};

class StartBuffers {
 public:
  // Throws Errc::buffers if buffers overlap that lie so far from those of init, and Errc::argument
  // where nothing lies that may be used.
  using Check = std::function<void(Shifts)>;
  // if_unclear: only where it is not plain that buffers do not overlap.
  enum class Ask : bool { if_unclear, always };
  StartBuffers(StartBuffers&&) = default;  // a copy would point into the other
  StartBuffers& operator=(StartBuffers&&) = default;
  // There are none that it may replace. why: ends a sentence.
  explicit StartBuffers(const char* why) : fixed_(why) {}
  // function: of the C interface, without tonari_, which takes them in this order. Spaces are
  // numbered from 1 on.
  StartBuffers(const char* function, std::vector<StartBuffer> buffers, Check check,
               Ask ask = Ask::if_unclear);

  // Why there are none; null if there are.
  const char* fixed() const { return fixed_; }
  const char* function() const { return function_; }
  // For Exchange::rebind. given: an address for each of them. Throws Errc::argument, Errc::buffers:
  // then those of before stay.
  Shifts take(const void* const given[]);
  std::ptrdiff_t shift(SpaceId space) const { return shifts_[space]; }

 private:
  void find_shifts(const void* const given[]);
  bool plainly_apart();

  const char *fixed_ = nullptr, *function_ = nullptr;
  std::vector<StartBuffer> buffers_;
  Check check_;
  Ask ask_ = Ask::if_unclear;
  std::vector<std::ptrdiff_t> shifts_, next_;   // next_: those to be taken
  std::vector<const StartBuffer*> by_address_;  // those that are touched, where they are now
};

// The binding's blocks, once their spaces have moved so far.
Binding moved(Binding binding, Shifts shifts);

}  // namespace tonari
