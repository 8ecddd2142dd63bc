// SPDX-License-Identifier: BSD-3-Clause
#include "packing/packed_offer.hpp"

#include <cstring>
#include <set>
#include <type_traits>

namespace tonari {
namespace {

constexpr Bytes no_flag = ~Bytes{0};

// Slots follow it.
struct Head {
  MemoryHandle memory;
  Bytes bytes = 0, arrived = no_flag, taken = no_flag;
};
static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<PackedSlots>);

Bytes place_of(std::span<const PackedFlags> flags, std::int32_t peer) {
  for (const PackedFlags& one : flags)
    if (one.peer == peer) return one.at;
  return no_flag;
}

// Flags of the steps of one peer follow each other, the first one at `at`.
void add_flags(std::vector<PackedFlags>& flags, std::int32_t peer, Bytes at,
               const std::set<std::int32_t>& steps) {
  for (const std::int32_t step : steps) {
    if (at == no_flag) return;
    flags.push_back({peer, at, step});
    at += two_flags;
  }
}

}  // namespace

std::size_t bytes_of_offer(std::size_t messages) {
  return sizeof(Head) + messages * sizeof(PackedSlots);
}

std::vector<std::byte> written_offer(const PackedOffer& offer, std::int32_t peer) {
  const PackedInbox& inbox = offer.inbox;
  const Head head{offer.memory, inbox.bytes, place_of(inbox.arrived, peer),
                  place_of(inbox.taken, peer)};
  std::vector<std::byte> bytes(sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  for (const PackedSlots& slots : inbox.slots) {
    if (slots.key.peer != peer) continue;
    const auto* const first = reinterpret_cast<const std::byte*>(&slots);
    bytes.insert(bytes.end(), first, first + sizeof slots);
  }
  return bytes;
}

PackedOffer read_offer(std::span<const std::byte> bytes, std::int32_t reader) {
  if (bytes.size() < sizeof(Head) || (bytes.size() - sizeof(Head)) % sizeof(PackedSlots) != 0)
    fail(Errc::mismatch, "a rank offers memory by ", bytes.size(), " bytes, which makes no sense");
  Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  PackedOffer offer{head.memory, {}};
  offer.inbox.bytes = head.bytes;
  std::set<std::int32_t> steps;
  for (std::size_t at = sizeof head; at < bytes.size(); at += sizeof(PackedSlots)) {
    PackedSlots& slots = offer.inbox.slots.emplace_back();
    std::memcpy(static_cast<void*>(&slots), &bytes[at], sizeof slots);
    steps.insert(slots.key.step);
  }
  add_flags(offer.inbox.arrived, reader, head.arrived, steps);
  add_flags(offer.inbox.taken, reader, head.taken, {0});
  return offer;
}

}  // namespace tonari
