// SPDX-License-Identifier: BSD-3-Clause
// A plan bound to buffers. Every operation has messages to transfer by MPI point to point, and
// copies before they start and after they complete. If the message has an edge (channels/edge.hpp),
// the copies are those between blocks and the edge's slots.
//
// Two compilers make it. `packed` gathers a message's blocks into one piece of memory and scatters
// it on arrival. `typed` describes the blocks by a derived datatype and leaves them in place (zero
// copy; Träff 2016, section 3.3).
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "channels/arguments.hpp"
#include "channels/edge.hpp"
#include "copy/moves.hpp"
#include "memory/memory.hpp"
#include "memory/process.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_type.hpp"
#include "plan/plan.hpp"

namespace tonari {

struct Transfer {
  void* buffer;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
  bool send;
  SpaceId space = fixed_space;  // that all of it lies in
  // or what it consists of where it lies in several: in P2pProgram::scattered; -1: it does not
  std::int32_t scattered = -1;
};

// What a message consists of, for a derived datatype.
struct MessagePieces {
  std::vector<int> counts;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  std::vector<SpaceId> spaces;

  // Makes `type`, committed. Pieces lie at their addresses, moved by the shifts of their spaces.
  void describe(Shifts shifts, MPI_Datatype* type) const;
};

// What the ends of a copy lie in.
struct MoveSpaces {
  SpaceId to = fixed_space, from = fixed_space;
  friend bool operator==(const MoveSpaces&, const MoveSpaces&) = default;
};

struct Range {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
};

struct P2pProgram {
  using Moves = std::array<Range, 2>;  // in moves, for exchanges of either parity
  struct Step {                        // of one operation of the plan
    Range transfers;
    Moves before, after;  // before its transfers start, and after they are complete
    Range parts;          // of a message with an edge: the moves of each slot
    Range pieces;         // of a message whose edge moves the bytes itself: the places
    // blocks are forwarded straight from the slot, which is given back at the end of the exchange
    bool passes_on = false;
    bool viewed = false;  // blocks are read in the slot, which is given back at the next start
  };
  std::vector<Step> steps;
  std::vector<Moves> parts;
  std::vector<Piece> pieces;
  std::vector<SpaceId> piece_spaces;  // of each of them
  std::vector<Transfer> transfers;
  std::vector<Move> moves;
  std::vector<MoveSpaces> move_spaces;  // of each of them
  // receive blocks that stay where they arrived, for either parity; else null. Empty: none does
  std::vector<std::array<std::byte*, 2>> views;
  std::vector<MessagePieces> scattered;  // where they lie at init
  std::vector<OwnedType> types;
  Memory memory;           // packed messages, forwarded blocks
  bool persistent = true;  // persistent MPI requests, else Isend and Irecv anew each time
  Bytes bytes_sent = 0;
  Bytes bytes_unpacked = 0;  // copied after arrival
};

// Appends the copies of one block to another of equal size; joins with the last of the moves from
// `first` on where that is continued.
void append_moves(P2pProgram& program, std::size_t first, const Block& to, const Block& from);
// Throws Errc::internal if the plan swaps in place.
void require_messages(const Plan& plan);
// Ends the list that began at `first`: pieces of equal length at constant distances become one
// move.
Range close_moves(P2pProgram& program, std::size_t first);
// The copies, and where edges find their messages, once spaces have moved so much further.
void shift_copies(P2pProgram& program, Shifts by);

struct Packing {
  // MPI messages are cut into pieces of at most this many bytes (0: only where MPI's int counts
  // demand it)
  std::size_t segment = 0;
  // The edge of every operation; if null, the message goes by MPI, as all do if the list is empty.
  // Only the addresses of slots outlive the call.
  std::vector<const std::vector<MessageSlot>*> slots = {};
  // contiguous receive blocks stay in the slot they arrive in, if that holds the whole message
  bool views = false;
};
// For plans without exchanges (else Errc::internal).
P2pProgram compile_packed(const Plan& plan, const Binding& binding, const Packing& packing);
P2pProgram compile_typed(const Plan& plan, const Binding& binding, const Arguments& arguments);

}  // namespace tonari
