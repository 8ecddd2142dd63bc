// SPDX-License-Identifier: BSD-3-Clause
#include "device/tiles.hpp"

#include <algorithm>

namespace tonari {
namespace {

bool contiguous(const Move& move) {
  const auto length = static_cast<std::ptrdiff_t>(move.length);
  return move.count == 1 || (move.to_stride == length && move.from_stride == length);
}

Move pieces(const Move& move, std::size_t first, std::size_t count) {
  const auto k = static_cast<std::ptrdiff_t>(first);
  return {move.to + k * move.to_stride,
          move.from + k * move.from_stride,
          move.length,
          count,
          move.to_stride,
          move.from_stride};
}

void cut_piece(const Move& piece, std::size_t bytes, std::size_t most, std::vector<Move>& tiles) {
  for (std::size_t at = 0; at < bytes; at += most)
    tiles.push_back({piece.to + at, piece.from + at, std::min(most, bytes - at), 1, 0, 0});
}

}  // namespace

std::vector<Move> cut_into_tiles(std::span<const Move> moves, std::size_t most) {
  std::vector<Move> tiles;
  for (const Move& move : moves) {
    if (move.length == 0 || move.count == 0) continue;
    if (contiguous(move)) {
      cut_piece(move, move.length * move.count, most, tiles);
      continue;
    }
    if (move.length > most) {
      for (std::size_t k = 0; k < move.count; ++k)
        cut_piece(pieces(move, k, 1), move.length, most, tiles);
      continue;
    }
    const std::size_t at_once = most / move.length;
    for (std::size_t k = 0; k < move.count; k += at_once)
      tiles.push_back(pieces(move, k, std::min(at_once, move.count - k)));
  }
  return tiles;
}

}  // namespace tonari
