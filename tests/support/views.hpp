// SPDX-License-Identifier: BSD-3-Clause
// What the receive views of a request show, held against the oracle.
#pragma once

#include <cstring>

#include "support/graph_exchange.hpp"

namespace tonari::test {

// One request on a graph, with tonari_recv_view=yes.
struct Viewed {
  const Graph& graph;
  Buffers b;
  tonari_request request = TONARI_REQUEST_NULL;
  int rank = world_rank(), round = 0;
  int views = 0;   // blocks that were not in the receive buffer
  int others = 0;  // blocks that were
};

// A block where its view was, and what it showed; empty if it was in the receive buffer.
struct Seen {
  const Byte* at = nullptr;
  std::vector<Byte> bytes;
};

inline bool inside(const Side& side, const Byte* at) {
  return at >= side.memory.data() && at < side.memory.data() + side.memory.size();
}

inline std::vector<Byte> expected_block(const Viewed& c, std::size_t j, std::size_t bytes) {
  const int block = static_cast<int>(j), source = c.graph.source(c.rank, block);
  std::vector<Byte> expected(bytes);
  write_block(expected, {{0, bytes}}, source, gathers(c.b.op) ? 0 : c.graph.origin(c.rank, block),
              c.round);
  return expected;
}

// Looks at every block by its view. What is in the buffer is in its place, and the bytes of what is
// not were left alone.
inline std::vector<Seen> look(Viewed& c) {
  std::vector<Seen> all(c.b.in.blocks.size());
  std::vector<Byte> want(c.b.in.memory.size(), poison);
  for (std::size_t j = 0; j < all.size(); ++j) {
    const void* address = nullptr;
    MPI_Count bytes = -1;
    EXPECT_OK(tonari_request_recv_view(c.request, static_cast<int>(j), &address, &bytes));
    const int source = c.graph.source(c.rank, static_cast<int>(j));
    if (source < 0) continue;
    MPI_Count length = 0;
    for (const Piece& p : c.b.in.blocks[j]) length += static_cast<MPI_Count>(p.length);
    EXPECT_EQ(bytes, length) << "block " << j;
    const auto* const at = static_cast<const Byte*>(address);
    if (bytes <= 0) continue;
    if (inside(c.b.in, at)) {
      ++c.others;
      write_block(want, c.b.in.blocks[j], source,
                  gathers(c.b.op) ? 0 : c.graph.origin(c.rank, static_cast<int>(j)), c.round);
      continue;
    }
    ++c.views;
    all[j] = {at, {at, at + bytes}};
    EXPECT_TRUE(all[j].bytes == expected_block(c, j, all[j].bytes.size()))
        << "block " << j << " of " << bytes << " bytes from " << source << ", round " << c.round;
  }
  EXPECT_TRUE(c.b.in.memory == want) << "the receive buffer, round " << c.round;
  return all;
}

inline void expect_unchanged(const std::vector<Seen>& seen) {
  for (const Seen& s : seen)
    EXPECT_TRUE(s.bytes.empty() || std::memcmp(s.at, s.bytes.data(), s.bytes.size()) == 0)
        << "a view changed before the next start";
}

}  // namespace tonari::test
