// SPDX-License-Identifier: BSD-3-Clause
// Reads messages where they lie in the memory of their senders.
#pragma once

#include <span>
#include <vector>

#include "channels/streams/link.hpp"
#include "copy/moves.hpp"
#include "memory/process.hpp"

namespace tonari {

// Calls visit for each piece of memory.
template <class Visit>
void for_pieces(const Layout& layout, const std::byte* base, const Visit& visit) {
  for (const Run& run : layout.runs())
    for (std::size_t k = 0; k < run.count; ++k)
      visit(Piece{
          reinterpret_cast<std::uintptr_t>(base) +
              static_cast<std::uintptr_t>(run.offset + run.stride * static_cast<std::ptrdiff_t>(k)),
          run.length});
}

class MessageReader {
 public:
  // Reads what lies in these pieces of the peer's memory. scattered: it goes to more than
  // most_pieces here. Throws Errc::peer and Errc::memory.
  void read(const Streams& streams, const StreamPeer& peer, std::span<const Piece> from,
            std::byte* base, const Layout& to, bool scattered);

 private:
  std::vector<std::byte> staged_;  // what was read and is not one piece here
};

}  // namespace tonari
