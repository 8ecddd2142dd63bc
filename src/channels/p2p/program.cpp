#include "channels/p2p/program.hpp"

#include "base/error.hpp"

namespace tonari {

void append_moves(std::vector<Move>& moves, std::size_t first, const Block& to, const Block& from) {
  if (from.bytes == 0) return;
  if (to.layout || from.layout) {
    Layout whole;
    whole.add(0, from.bytes);
    make_moves(moves, to.address, to.layout ? *to.layout : whole, from.address,
               from.layout ? *from.layout : whole);
    return;
  }
  if (moves.size() > first) {
    Move& last = moves.back();
    if (last.count == 1 && last.to + last.length == to.address &&
        last.from + last.length == from.address) {
      last.length += from.bytes;
      return;
    }
  }
  moves.push_back({to.address, from.address, from.bytes, 1, 0, 0});
}

void require_messages(const Plan& plan) {
  for (const Operation& op : plan.operations())
    if (op.kind == Kind::exchange)
      fail(Errc::internal, "a plan with exchanges is to be run as messages");
}

namespace {

// Returns whether `next` continues `last` by one more piece, and if so extends it.
bool extend(Move& last, const Move& next) {
  if (last.length != next.length || next.count != 1) return false;
  const auto steps = static_cast<std::ptrdiff_t>(last.count);
  const std::ptrdiff_t to = next.to - last.to, from = next.from - last.from;
  if (last.count == 1)
    last.to_stride = to, last.from_stride = from;
  else if (to != steps * last.to_stride || from != steps * last.from_stride)
    return false;
  ++last.count;
  return true;
}

}  // namespace

Range close_moves(std::vector<Move>& moves, std::size_t first) {
  if (moves.size() > first) {
    std::size_t last = first;
    for (std::size_t k = first + 1; k < moves.size(); ++k)
      if (!extend(moves[last], moves[k])) moves[++last] = moves[k];
    moves.resize(last + 1);
  }
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(moves.size())};
}

}  // namespace tonari
