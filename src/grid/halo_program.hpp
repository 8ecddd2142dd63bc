// A halo exchange as what there is to do, step by step: copies out, messages by MPI, copies between
// subdomains of this rank, copies in.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "channels/owned_type.hpp"
#include "channels/p2p/program.hpp"
#include "copy/moves.hpp"
#include "grid/halo_grid.hpp"
#include "layout/halo_links.hpp"
#include "memory/mapped_file.hpp"
#include "memory/memory.hpp"

namespace tonari {

// By the names of tonari_halo.
enum class HaloKind : std::uint8_t {
  pack,
  datatypes,
  shift,
  plan,
  basic,
  layout,
  memmap,
  zero_byte
};
const char* name(HaloKind kind);
std::vector<HaloKind> kinds_of(const GridShape& shape);  // those that apply, the best guess first

struct HaloStep {
  std::vector<Move> pack;           // before messages are sent
  std::vector<Transfer> transfers;  // receives first
  std::vector<Move> local;          // while they travel
  std::vector<Move> unpack;         // when all have arrived
};

struct HaloProgram {
  std::vector<HaloStep> steps;  // one after the other
  std::vector<OwnedType> types;
  std::vector<View> views;
  Memory memory;     // packed messages
  int messages = 0;  // sent per exchange, as bytes
  Bytes bytes = 0;
  int tags = 0;  // those of the transfers are 0 to tags - 1
};

// What a link moves at this end, in the order in which it travels: bytes at absolute addresses.
struct HaloEnd {
  HaloLink link;
  Layout bytes;
  CellBox cells = {};  // of arrays: all fields of these
  // of bricks that are not mapped side by side: the lengths of the pieces, which the other end has,
  // too
  std::vector<Bytes> parts = {};
};

struct HaloRequest {
  HaloKind kind;
  Reach reach = Reach::all;
  int copy = 0;
};

// Of the steps, one after the other; those whose messages the grid's mapped ghosts spare are left
// out. Views that the ends lie in are added to `views`.
struct HaloEnds {
  std::vector<HaloEnd> send, receive;
};
std::vector<HaloEnds> halo_ends(const HaloGrid& grid, const HaloRequest& request,
                                std::vector<View>& views);

// For every kind but plan. Throws Errc::overflow, Errc::mpi, Errc::memory.
HaloProgram compile_halo(const HaloGrid& grid, const HaloRequest& request);

// A committed type of the bytes, to be used with MPI_BOTTOM and count 1; of arrays made of subarray
// types.
OwnedType type_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end);

}  // namespace tonari
