// SPDX-License-Identifier: BSD-3-Clause
#include "channels/p2p/program.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {

void MessagePieces::describe(Shifts shifts, MPI_Datatype* type) const {
  const int count = checked_cast<int>(counts.size(), "pieces in a message");
  std::vector<MPI_Aint> at = addresses;
  for (std::size_t k = 0; k < at.size(); ++k) at[k] += shifts.empty() ? 0 : shifts[spaces[k]];
  if (std::ranges::all_of(types, [](MPI_Datatype t) { return t == MPI_BYTE; }))
    check_mpi(MPI_Type_create_hindexed(count, counts.data(), at.data(), MPI_BYTE, type),
              "MPI_Type_create_hindexed");
  else
    check_mpi(MPI_Type_create_struct(count, counts.data(), at.data(), types.data(), type),
              "MPI_Type_create_struct");
  check_mpi(MPI_Type_commit(type), "MPI_Type_commit");
}

void append_moves(P2pProgram& program, std::size_t first, const Block& to, const Block& from) {
  if (from.bytes == 0) return;
  std::vector<Move>& moves = program.moves;
  const MoveSpaces spaces{to.space, from.space};
  if (to.layout || from.layout) {
    Layout whole;
    whole.add(0, from.bytes);
    make_moves(moves, to.address, to.layout ? *to.layout : whole, from.address,
               from.layout ? *from.layout : whole);
    program.move_spaces.resize(moves.size(), spaces);
    return;
  }
  if (moves.size() > first && program.move_spaces.back() == spaces) {
    Move& last = moves.back();
    if (last.count == 1 && last.to + last.length == to.address &&
        last.from + last.length == from.address) {
      last.length += from.bytes;
      return;
    }
  }
  moves.push_back({to.address, from.address, from.bytes, 1, 0, 0});
  program.move_spaces.push_back(spaces);
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

Range close_moves(P2pProgram& program, std::size_t first) {
  std::vector<Move>& moves = program.moves;
  std::vector<MoveSpaces>& spaces = program.move_spaces;
  if (moves.size() > first) {
    std::size_t last = first;
    for (std::size_t k = first + 1; k < moves.size(); ++k)
      if (spaces[last] != spaces[k] || !extend(moves[last], moves[k]))
        ++last, moves[last] = moves[k], spaces[last] = spaces[k];
    moves.resize(last + 1), spaces.resize(last + 1);
  }
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(moves.size())};
}

void shift_copies(P2pProgram& program, Shifts by) {
  auto spaces = program.move_spaces.cbegin();
  for (Move& move : program.moves) {
    move.to = moved(move.to, by[spaces->to]);
    move.from = moved(move.from, by[spaces->from]);
    ++spaces;
  }
  for (std::size_t k = 0; k < program.pieces.size(); ++k)
    program.pieces[k].address += static_cast<std::uint64_t>(by[program.piece_spaces[k]]);
}

}  // namespace tonari
