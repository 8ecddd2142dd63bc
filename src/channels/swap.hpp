// SPDX-License-Identifier: BSD-3-Clause
// One pairwise swap in place: what this rank has for another goes there, and what that one has
// takes its place. It goes a chunk at a time, so that only a few chunks exist twice (Hofmann 2013,
// section 3). MPI_Sendrecv_replace is in place in name only.
//
// Both ends cut their equally many bytes into the same chunks. A chunk is copied out before what
// belongs there is copied in; no other order is needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "copy/walk.hpp"
#include "memory/address_span.hpp"

namespace tonari {

// This rank's data of the swap: elements of one shape, never a list of all of them, which could be
// longer than the data.
struct SwapBlock {
  std::int32_t peer = 0;
  Bytes bytes = 0;  // the same at both ends; 0 if there is nothing to swap
  // of the first byte, or the base of the first element
  std::byte* address = nullptr;
  std::shared_ptr<const Layout> element = nullptr;  // null: contiguous
  std::ptrdiff_t extent = 0;                        // from one element to the next

  bool contiguous() const { return element == nullptr; }
  // From its lowest byte to one past the highest.
  AddressSpan span() const {
    const auto base = reinterpret_cast<std::uintptr_t>(address);
    if (contiguous()) return {base, base + bytes};
    const auto [low, high] = element->span();
    const std::ptrdiff_t last = extent * static_cast<std::ptrdiff_t>(bytes / element->bytes() - 1);
    return {base + static_cast<std::uintptr_t>(low + std::min<std::ptrdiff_t>(last, 0)),
            base + static_cast<std::uintptr_t>(high + std::max<std::ptrdiff_t>(last, 0))};
  }
  void move(std::ptrdiff_t by) {
    address = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                           static_cast<std::uintptr_t>(by));
  }
  Walk walk() const { return element ? Walk(address, *element, extent) : Walk(address); }
};

class Swap {
 public:
  virtual ~Swap() = default;

  enum class State : std::uint8_t { idle, went_on, complete };
  // Called when the plan lets it begin: the temporary memory that it was granted is free.
  virtual void start() = 0;
  // Does some of what can be done now, at most what fits into its temporary memory. After
  // `complete` start comes next. Throws Errc::mpi or Errc::memory; never blocks, allocates nothing.
  virtual State advance() = 0;
  // Between exchanges: the data now lies so far from where it was.
  virtual void move(std::ptrdiff_t by) = 0;

  virtual std::size_t book_bytes() const = 0;  // what it takes itself, without the memory it shares
  virtual void leave() {}                      // this rank stops for good
  virtual void check() const {}                // throws Errc::peer if the other has ended or left
};

}  // namespace tonari
