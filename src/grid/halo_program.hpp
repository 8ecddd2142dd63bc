// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges as plans, bound to the memory of a grid.
#pragma once

#include <mpi.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cells/contributions.hpp"
#include "channels/p2p/program.hpp"
#include "copy/moves.hpp"
#include "grid/halo_grid.hpp"
#include "layout/halo_ends.hpp"
#include "memory/mapped_file.hpp"
#include "mpi/owned_type.hpp"

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

struct HaloRequest {
  HaloKind kind = HaloKind::plan;
  Reach reach = Reach::all;
  int copy = 0;
  bool reverse = false;      // ghosts go to their owners
  Reduction reduction = {};  // by which these combine them
};
// Those that apply, the best guess first; whatever the request says about the kind.
std::vector<HaloKind> kinds_of(const HaloGrid& grid, const HaloRequest& request);
// The same, or the one that tonari_halo names. Throws Errc::algorithm if it does not apply.
std::vector<HaloKind> wanted_kinds(const std::string& halo, const HaloGrid& grid,
                                   const HaloRequest& request);

// What the cells of a subdomain lie in: the program may replace arrays, all fields together.
SpaceId space_of(const HaloGrid& grid, int subdomain);

using Views = std::vector<View>;  // mapped storages: that ends lie in

// The ends of the steps, one after the other.
std::vector<HaloEnds> all_halo_ends(const HaloGrid& grid, const HaloRequest& request);
// The same without those whose messages mapped ghosts spare.
std::vector<HaloEnds> halo_ends(const HaloGrid& grid, const HaloRequest& request);
// The bytes of an end at absolute addresses: own cells or ghosts. A view that they lie in is added
// to `views`.
Layout bytes_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end, bool own,
                Views& views);
// A committed type of the bytes, to be used with MPI_BOTTOM and count 1; of arrays made of subarray
// types.
OwnedType type_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end,
                  const Layout& bytes);

// What arrives in a reverse exchange.
class Arrivals {
 public:
  // Of the first step's `ends`. Those of this rank are taken out: nothing has to bring them.
  Arrivals(const HaloGrid& grid, const HaloRequest& request, HaloEnds& ends, Views& views);
  // Where an end's bytes arrive.
  std::byte* place(const HaloEnd& end) const;
  std::uint64_t bytes(const HaloEnd& end) const;
  Contributions contributions;

 private:
  std::map<std::int64_t, std::size_t> numbers_;  // of contributions, by key
};

// For every kind except `plan`: a plan, and the program that it becomes.
struct HaloProgram {
  Plan plan;
  P2pProgram program;
  Views views;
  Contributions contributions;  // of a reverse exchange
  int tags() const;             // those of the plan are 0 to tags() - 1
};
// Throws Errc::overflow, Errc::mpi, Errc::memory.
HaloProgram compile_halo(const HaloGrid& grid, const HaloRequest& request);

}  // namespace tonari
