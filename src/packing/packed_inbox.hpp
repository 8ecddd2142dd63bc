// SPDX-License-Identifier: BSD-3-Clause
// What a rank receives from streams of other ranks: one allocation of a device, which they map.
//
//   arrived: two flags per sender and step | taken: two flags per receiver | two slots per message
//
// Senders write `arrived` and the slots, and receivers write `taken`. A flag has the number of the
// last exchange of its parity, so it says which of the two slots. One launch packs all messages of
// a step for a rank, so one flag tells of them all. A rank has none for itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "device/device.hpp"

namespace tonari {

// A message, as either end knows it.
struct PackedKey {
  // `tag` and `piece`: together unique per ordered pair of ranks, the same at both ends
  std::int32_t peer = 0, tag = 0;
  Bytes bytes = 0;
  std::int32_t piece = 0;
  std::int32_t step = 0;  // of its sender's launches, the same at both ends
};

// Where words and bytes lie, from the first byte of the allocation on. The first is that of parity
// 0. Both are trivially copyable.
struct PackedFlags {
  std::int32_t peer = 0;
  Bytes at = 0;
  std::int32_t step = 0;  // that it tells of; of `taken` always 0
  Bytes flag(std::size_t parity) const { return at + sizeof(std::uint64_t) * parity; }
};
struct PackedSlots {
  PackedKey key;
  Bytes at = 0, each = 0;
  Bytes slot(std::size_t parity) const { return at + each * parity; }
};

struct PackedInbox {
  std::vector<PackedFlags> arrived, taken;  // a peer and step each, ascending
  std::vector<PackedSlots> slots;           // as the list of incoming messages
  Bytes bytes = 0;                          // at least 1
};
PackedInbox lay_out_inbox(std::int32_t rank, std::span<const PackedKey> in,
                          std::span<const PackedKey> out);

// Two flags, by parity.
inline constexpr Bytes two_flags = 2 * sizeof(std::uint64_t);

// What a rank tells its peers.
struct PackedOffer {
  MemoryHandle memory;
  PackedInbox inbox;
};

// In a peer's inbox. Throw Errc::mismatch if it expects no such message or flag of this rank, and
// Errc::argument if that does not lie in the memory: a stranger may have sent the offer.
const PackedSlots& find_slots(const PackedInbox& inbox, const PackedKey& wanted);
const PackedFlags& find_flags(std::span<const PackedFlags> flags, std::int32_t peer,
                              std::int32_t step, Bytes memory);

}  // namespace tonari
