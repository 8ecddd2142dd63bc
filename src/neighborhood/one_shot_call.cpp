// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/one_shot_call.hpp"

#include <algorithm>

#include "request/buffer.hpp"

namespace tonari {
namespace {

std::intptr_t number(const void* address) { return reinterpret_cast<std::intptr_t>(address); }

// No block lies at addresses that the system gives to nobody, or that do not exist.
bool impossible(const void* buffer, const OneShotCall::Side& side) {
  std::intptr_t first = 0, end = 0;
  return is_no_buffer(buffer) ||
         (side.has_bytes && (__builtin_add_overflow(number(buffer), side.low, &first) ||
                             __builtin_add_overflow(number(buffer), side.high, &end) ||
                             first < static_cast<std::intptr_t>(first_page)));
}

}  // namespace

OneShotCall::Side::Side(const BufferArguments& given, std::size_t blocks,
                        const std::vector<Block>& read)
    : KnownSide(given, blocks), on_gpu(tonari::on_gpu(given.buffer)) {
  for (const Block& block : read) {
    if (block.bytes == 0) continue;
    const std::ptrdiff_t at = number(block.address) - number(given.buffer);
    const auto [first, end] = block.layout ? block.layout->span()
                                           : std::pair<std::ptrdiff_t, std::ptrdiff_t>(
                                                 0, static_cast<std::ptrdiff_t>(block.bytes));
    low = has_bytes ? std::min(low, at + first) : at + first;
    high = has_bytes ? std::max(high, at + end) : at + end;
    has_bytes = true;
  }
}

OneShotCall::OneShotCall(const Call& call, const LocalTopology& topology, const Binding& read)
    : collective(call.collective),
      send(call.send, call.blocks_sent(topology), read.send),
      recv(call.recv, call.blocks_received(topology), read.recv),
      arrivals(tonari::arrivals(topology, read)),
      base(call.recv.buffer) {
  remember(call);
}

bool OneShotCall::fits(const Call& call) const {
  if (impossible(call.send.buffer, send) || impossible(call.recv.buffer, recv)) return false;
  if (!send.has_bytes || !recv.has_bytes) return true;
  const std::intptr_t out = number(call.send.buffer), in = number(call.recv.buffer);
  if (out + send.high <= in + recv.low || in + recv.high <= out + send.low) return true;
  const auto end = distances.begin() + std::min(known_distances, distances.size());
  return std::find(distances.begin(), end, static_cast<std::uintptr_t>(in - out)) != end;
}

void OneShotCall::remember(const Call& call) {
  distances[known_distances++ % distances.size()] =
      static_cast<std::uintptr_t>(number(call.recv.buffer) - number(call.send.buffer));
}

}  // namespace tonari
