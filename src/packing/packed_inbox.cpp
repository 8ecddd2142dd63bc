// SPDX-License-Identifier: BSD-3-Clause
#include "packing/packed_inbox.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "memory/memory.hpp"

namespace tonari {
namespace {

constexpr Bytes slot_alignment = 128;  // of what a launch writes and reads
enum class Each : std::uint8_t { peer, step_of_a_peer };

std::vector<PackedFlags> flags_of(Each each, std::int32_t rank, std::span<const PackedKey> keys,
                                  Bytes& bytes) {
  std::set<std::pair<std::int32_t, std::int32_t>> peers;
  for (const PackedKey& key : keys)
    if (key.peer != rank) peers.emplace(key.peer, each == Each::peer ? 0 : key.step);
  std::vector<PackedFlags> flags;
  for (const auto& [peer, step] : peers) {
    flags.push_back({peer, bytes, step});
    bytes += two_flags;
  }
  return flags;
}

void check_place(Bytes at, Bytes bytes, Bytes alignment, Bytes memory) {
  if (at % alignment != 0 || at > memory || bytes > memory - at)
    fail(Errc::argument, bytes, " bytes from byte ", at, " on do not lie in the ", memory,
         " bytes that a rank offers");
}

}  // namespace

PackedInbox lay_out_inbox(std::int32_t rank, std::span<const PackedKey> in,
                          std::span<const PackedKey> out) {
  PackedInbox inbox;
  inbox.arrived = flags_of(Each::step_of_a_peer, rank, in, inbox.bytes);
  inbox.taken = flags_of(Each::peer, rank, out, inbox.bytes);
  for (const PackedKey& key : in) {
    const Bytes each = round_up(key.bytes, slot_alignment);
    inbox.bytes = round_up(inbox.bytes, slot_alignment);
    inbox.slots.push_back({key, inbox.bytes, each});
    inbox.bytes = checked_add(inbox.bytes, checked_multiply<Bytes>(2, each, "two slots"),
                              "the slots of an exchange");
  }
  inbox.bytes = std::max<Bytes>(inbox.bytes, 1);
  return inbox;
}

const PackedSlots& find_slots(const PackedInbox& inbox, const PackedKey& wanted) {
  for (const PackedSlots& slots : inbox.slots) {
    if (slots.key.peer != wanted.peer || slots.key.tag != wanted.tag ||
        slots.key.piece != wanted.piece)
      continue;
    if (slots.key.bytes != wanted.bytes || slots.key.step != wanted.step) break;
    check_place(slots.at, slots.each, slot_alignment, inbox.bytes);
    check_place(slots.at + slots.each, std::max(slots.each, wanted.bytes), slot_alignment,
                inbox.bytes);
    return slots;
  }
  fail(Errc::mismatch, "no rank expects message ", wanted.tag, " of ", wanted.bytes,
       " bytes of rank ", wanted.peer, "; both ends must know the same messages");
}

const PackedFlags& find_flags(std::span<const PackedFlags> flags, std::int32_t peer,
                              std::int32_t step, Bytes memory) {
  const auto found = std::ranges::find_if(
      flags, [&](const PackedFlags& one) { return one.peer == peer && one.step == step; });
  if (found == flags.end())
    fail(Errc::mismatch, "a peer of rank ", peer,
         " has no flag for it; both ends must know the same messages");
  check_place(found->at, two_flags, sizeof(std::uint64_t), memory);
  return *found;
}

}  // namespace tonari
