// SPDX-License-Identifier: BSD-3-Clause
// What a rank tells one peer of its inbox, as bytes for a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packing/packed_inbox.hpp"

namespace tonari {

// So many bytes tell of an inbox that gets `messages` of the peer's messages. Both ends know that.
std::size_t bytes_of_offer(std::size_t messages);
// The part of the offer that the peer needs.
std::vector<std::byte> written_offer(const PackedOffer& offer, std::int32_t peer);
// The same at the peer, whose rank is `reader`. Throws Errc::mismatch for another number of bytes.
PackedOffer read_offer(std::span<const std::byte> bytes, std::int32_t reader);

}  // namespace tonari
