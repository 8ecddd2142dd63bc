// SPDX-License-Identifier: BSD-3-Clause
#include "grid/read_call.hpp"

#include <cstdint>
#include <utility>

#include "cells/cell_type.hpp"
#include "cells/read_ghosts.hpp"

namespace tonari {
namespace {

Reach read_reach(const tonari_ghosts* ghosts, const GridShape& shape) {
  const Reach reach = read_ghosts(ghosts, shape.parts.box(0, 0));
  for (int k = 0; k < shape.dims() && shape.bricked(); ++k)
    for (const auto& [width, side] :
         {std::pair(reach.lower[k], "lower"), {reach.upper[k], "upper"}})
      if (width > 0 && width < Reach::widest()[k])
        fail(Errc::argument, "ghosts.", side, "[", k, "] is ", width, ", but on storage ",
             name(shape.storage),
             " an exchange takes all ghosts of a side or none; give 0 or TONARI_GHOSTS_NONE");
  return reach;
}

}  // namespace

HaloRequest read_request(const HaloGrid& grid, const HaloCall& call) {
  const GridShape& shape = grid.shape();
  if (call.copy < 0 || call.copy >= shape.copies)
    fail(Errc::argument, "copy ", call.copy, " does not exist; the grid has ", shape.copies);
  HaloRequest request{HaloKind::plan, read_reach(call.ghosts, shape), call.copy,
                      call.direction == Direction::reverse};
  if (!request.reverse) return request;
  if (shape.mapped_ghosts)
    fail(Errc::argument,
         "mapped ghosts are their owners' cells, so a grid that has them has no reverse exchange; "
         "leave shape.mapped_ghosts 0");
  if (grid.some_on_device())
    fail(Errc::argument,
         "cells of the grid lie in memory of a GPU, and a reverse exchange combines them on the "
         "host; make a grid in memory of the host for it, on all ranks");
  require_number(shape.number);
  request.reduction = reduction_of(shape.number, call.op);
  return request;
}

std::array<Alike, 4> alike(const HaloGrid& grid, const HaloCall& call, const HaloRequest& request) {
  return {
      Alike{static_cast<std::uint64_t>(call.copy),
            "ranks asked for exchanges of different copies; it must be the same copy on all ranks"},
      Alike{static_cast<std::uint64_t>(call.direction), different_directions},
      alike_ghosts(request.reach, grid.shape().dims()),
      Alike{static_cast<std::uint64_t>(request.reduction.number),
            "ranks gave different operations or types of numbers; they must be the same on all "
            "ranks"}};
}

}  // namespace tonari
