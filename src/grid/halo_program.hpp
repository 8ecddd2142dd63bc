// Halo exchanges as plans, bound to the memory of a grid.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "channels/owned_type.hpp"
#include "channels/p2p/program.hpp"
#include "copy/moves.hpp"
#include "grid/halo_grid.hpp"
#include "layout/halo_ends.hpp"
#include "memory/mapped_file.hpp"

namespace tonari {

// The kinds are named as tonari_halo names them.
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

struct HaloRequest {
  HaloKind kind;
  Reach reach = Reach::all;
  int copy = 0;
};

// What the cells of a subdomain lie in: the program may replace arrays, all fields together.
SpaceId space_of(const HaloGrid& grid, int subdomain);

using Views = std::vector<View>;  // mapped storages: that ends lie in

// The ends of the steps, one after the other, without those whose messages mapped ghosts spare.
std::vector<HaloEnds> halo_ends(const HaloGrid& grid, const HaloRequest& request);
// The bytes of an end at absolute addresses. A view that they lie in is added to `views`.
Layout bytes_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end, bool send,
                Views& views);
// A committed type of the bytes, to be used with MPI_BOTTOM and count 1; of arrays made of subarray
// types.
OwnedType type_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end,
                  const Layout& bytes);

// For every kind except `plan`: a plan, and the program that it becomes.
struct HaloProgram {
  Plan plan;
  P2pProgram program;
  Views views;
  int tags() const;  // those of the plan are 0 to tags() - 1
};
// Throws Errc::overflow, Errc::mpi, Errc::memory.
HaloProgram compile_halo(const HaloGrid& grid, const HaloRequest& request);

}  // namespace tonari
