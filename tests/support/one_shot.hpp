// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls of the operations in support/oracle.hpp.
#pragma once

#include "support/oracle.hpp"

namespace tonari::test {

// Blocking.
inline int call(Operation op, Side& out, Side& in, tonari_neighborhood near) {
  return of_operation(op, out, in, [&](auto block, auto, auto, auto... arguments) {
    return block(arguments..., near);
  });
}

// Non-blocking.
inline int icall(Operation op, Side& out, Side& in, tonari_neighborhood near,
                 tonari_request* request) {
  return of_operation(op, out, in, [&](auto, auto begin, auto, auto... arguments) {
    return begin(arguments..., near, request);
  });
}

// Random buffers of an operation; blocks of the regular forms and of allgathers have `bytes` bytes,
// others up to that.
inline Buffers random_buffers(Operation op, int blocks, int bytes, unsigned seed) {
  Random random(seed);
  std::vector<int> sizes(static_cast<std::size_t>(blocks), bytes);
  if (!gathers(op) && form(op) > 0)
    for (int& size : sizes) size = bytes / 4 * pick(random, 0, 4);
  Random mine(seed + 100 * static_cast<unsigned>(world_rank()));
  const auto style = [&] { return static_cast<Style>(pick(mine, 0, styles - 1)); };
  const auto side = [&] {
    if (form(op) == 0) return regular_side(mine, style(), blocks, bytes);
    return form(op) == 1 ? v_side(mine, style(), sizes, bytes / 4) : w_side(mine, sizes);
  };
  Side out = gathers(op) ? regular_side(mine, style(), 1, bytes) : side();
  return {op, std::move(out), side(), {}};
}

// Whether a block goes from here to the other rank, or comes from there.
inline bool exchanges_with(tonari_neighborhood near, int other) {
  int in = 0, out = 0;
  tonari_neighborhood_degrees(near, &in, &out);
  std::vector<int> peers(static_cast<std::size_t>(in + out));
  tonari_neighborhood_ranks(near, peers.data() + in, peers.data());
  return std::find(peers.begin(), peers.end(), other) != peers.end();
}

}  // namespace tonari::test
