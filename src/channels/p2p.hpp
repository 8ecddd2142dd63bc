// A plan bound to buffers, ready for MPI point to point: for every operation the messages to transfer, the copies before they are
// started and the copies after they are complete.
//
// Two compilers make it: packed gathers a message's blocks into one piece of memory and scatters it on arrival; typed describes the blocks by
// a derived datatype and leaves them where they are (zero copy; Traff et al. 2016, section 3.3).
#pragma once

#include <mpi.h>

#include <vector>

#include "channels/arguments.hpp"
#include "memory/memory.hpp"
#include "channels/mpi_error.hpp"
#include "channels/owned_type.hpp"
#include "copy/moves.hpp"
#include "plan/plan.hpp"

namespace tonari {

struct Transfer {
  void* buffer;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
  bool send;
};

struct Range {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
};

struct P2pProgram {
  struct Step {  // of one operation of the plan
    Range transfers;
    Range before, after;  // in moves: to be done before its transfers start; after they are complete
  };
  std::vector<Step> steps;
  std::vector<Transfer> transfers;
  std::vector<Move> moves;
  std::vector<OwnedType> types;
  Memory memory;             // packed messages, blocks on their way
  Bytes bytes_sent = 0;
  Bytes bytes_unpacked = 0;  // copied after arrival
};

// Appends the copies of one block to another of equal size; joins with the last of the moves from `first` on where that is continued.
void append_moves(std::vector<Move>& moves, std::size_t first, const Block& to, const Block& from);
// Ends the list that began at `first`: pieces of equal length at constant distances become one move.
Range close_moves(std::vector<Move>& moves, std::size_t first);

// segment: messages are cut into pieces of at most so many bytes (0: only where MPI's int counts demand it).
P2pProgram compile_packed(const Plan& plan, const Binding& binding, std::size_t segment);
P2pProgram compile_typed(const Plan& plan, const Binding& binding, const Arguments& arguments);

}  // namespace tonari
