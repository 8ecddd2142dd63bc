#include "channels/p2p.hpp"

namespace tonari {

void append_moves(std::vector<Move>& moves, std::size_t first, const Block& to, const Block& from) {
  if (from.bytes == 0) return;
  if (to.layout || from.layout) {
    Layout whole;
    whole.add(0, from.bytes);
    make_moves(moves, to.address, to.layout ? *to.layout : whole, from.address, from.layout ? *from.layout : whole);
    return;
  }
  if (moves.size() > first) {
    Move& last = moves.back();
    if (last.count == 1 && last.to + last.length == to.address && last.from + last.length == from.address) {
      last.length += from.bytes;
      return;
    }
  }
  moves.push_back({to.address, from.address, from.bytes, 1, 0, 0});
}

}  // namespace tonari
