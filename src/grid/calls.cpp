// SPDX-License-Identifier: BSD-3-Clause
// The grid family as C functions.
#include <algorithm>

#include "base/checked.hpp"
#include "engine/wait/agree.hpp"
#include "grid/cell_copies.hpp"
#include "grid/grid_file.hpp"
#include "grid/halo_grid.hpp"
#include "grid/halo_plan.hpp"
#include "grid/request.hpp"
#include "mpi/mpi_error.hpp"
#include "request/buffer.hpp"
#include "request/free_handle.hpp"
#include "request/guard.hpp"
#include "request/settings.hpp"

using namespace tonari;

struct tonari_grid_s {
  std::shared_ptr<HaloGrid> grid;
  KeptCalls kept = {};
};

struct tonari_grid_memory_s {
  std::shared_ptr<HaloGrid> grid;
};

namespace {

HaloGrid& grid_of(tonari_grid grid) {
  require(grid, "grid");
  return *grid->grid;
}

void check_number(int number, int count, const char* what) {
  if (number < 0 || number >= count)
    fail(Errc::argument, what, " ", number, " does not exist; there are ", count);
}

HaloGrid& grid_of(tonari_grid grid, int subdomain) {
  HaloGrid& g = grid_of(grid);
  check_number(subdomain, g.subdomains(), "subdomain");
  return g;
}

HaloGrid& grid_of(tonari_grid grid, int subdomain, int copy, int field) {
  HaloGrid& g = grid_of(grid, subdomain);
  check_number(copy, g.shape().copies, "copy");
  check_number(field, g.shape().fields, "field");
  return g;
}

void check_inside(const HaloGrid& grid, int subdomain, const CellBox& box) {
  const GridBox& b = grid.box(subdomain);
  for (int k = 0; k < b.dims; ++k)
    if (box.first[k] < -b.lower[k] || box.end[k] > b.own[k] + b.upper[k])
      fail(Errc::argument, "cells ", box.first[k], " to ", box.end[k] - 1, " of dimension ", k,
           " are beyond the ghosts; subdomain ", subdomain, " has ", -b.lower[k], " to ",
           b.own[k] + b.upper[k] - 1);
}

// Ghosts that are another rank's pages cannot be written.
void check_writable(const HaloGrid& grid, int subdomain, const CellBox& box) {
  if (!grid.shape().mapped_ghosts) return;
  const GridBox& b = grid.box(subdomain);
  for (const Region v : directions(b.dims)) {
    const auto owner = grid.shape().parts.neighbor(grid.rank(), subdomain, v);
    if (!owner || !grid.shows(owner->rank)) continue;
    CellBox common = ghost_box(b, v);
    for (int k = 0; k < b.dims; ++k)
      common.first[k] = std::max(common.first[k], box.first[k]),
      common.end[k] = std::min(common.end[k], box.end[k]);
    if (!empty(common, b.dims))
      fail(Errc::argument,
           "the box has ghosts that are pages of the rank that owns them (shape.mapped_ghosts) and "
           "can be written by that rank only; import own cells and exchange");
  }
}

CellBox given_box(const HaloGrid& grid, int subdomain, const tonari_box* box) {
  CellBox cells;
  const GridBox& b = grid.box(subdomain);
  for (int k = 0; k < b.dims; ++k)
    cells.first[k] = box ? box->first[k] : 0, cells.end[k] = box ? box->end[k] : b.own[k];
  if (!empty(cells, b.dims)) check_inside(grid, subdomain, cells);
  return cells;
}

// In an array narrower than both of its surfaces together, what belongs to both is in the lower
// one.
CellBox surface_box(const GridBox& box, Region region) {
  CellBox cells = region_box(box, region);
  for (int k = 0; k < box.dims; ++k)
    if (sign(region, k, box.dims) > 0) cells.first[k] = std::max(cells.first[k], box.upper[k]);
  return cells;
}

std::vector<CellBox> boxes_of(const GridBox& box, int part) {
  std::vector<CellBox> boxes;
  if (part == TONARI_PART_OWN) {
    CellBox own;
    own.end = box.own;
    return {own};
  }
  if (part == TONARI_PART_INTERIOR)
    boxes.push_back(region_box(box, center(box.dims)));
  else if (part == TONARI_PART_SURFACE)
    for (const Region r : directions(box.dims)) boxes.push_back(surface_box(box, r));
  else if (part == TONARI_PART_GHOSTS)
    for (const Region v : directions(box.dims)) boxes.push_back(ghost_box(box, v));
  else
    fail(Errc::argument, "part ", part, " does not exist; it must be one of TONARI_PART_...");
  std::erase_if(boxes, [&](const CellBox& b) { return empty(b, box.dims); });
  return boxes;
}

// Fills a list of the program's, whose length it learns by a null one.
template <class Count, class Item, class From, class Convert>
void hand_out(Count* count, Item* items, const From& all, const char* what, Convert convert) {
  require(count, "count");
  const auto there = static_cast<Count>(all.size());
  if (items && *count < there)
    fail(Errc::argument, "there is room for ", *count, " ", what, ", but there are ", there);
  for (std::size_t i = 0; items && i < all.size(); ++i) items[i] = convert(all[i]);
  *count = there;
}

tonari_box box_for_c(const CellBox& box) {
  tonari_box out{};
  std::ranges::copy(box.first, out.first);
  std::ranges::copy(box.end, out.end);
  return out;
}

}  // namespace

extern "C" int tonari_grid_create(MPI_Comm cart, const tonari_grid_shape* shape,
                                  void* const arrays[], MPI_Info info, tonari_grid* grid) {
  return guarded([&] {
    require_comm(cart, "cart");
    GridShape read = read_shape(cart, shape, {grid, "grid"});
    std::unique_ptr<tonari_grid_s> handle;
    const std::shared_ptr<SharedComm> shared = SharedComm::of(cart);
    run_collectively(shared->comm(), [&] {
      check_keys(info);
      handle = std::make_unique<tonari_grid_s>();
      handle->grid = std::make_shared<HaloGrid>(shared, std::move(read), arrays);
    });
    *grid = handle.release();
  });
}

extern "C" int tonari_grid_shape_cells(MPI_Comm cart, const tonari_grid_shape* shape, int subdomain,
                                       int64_t first[], int64_t cells[], int64_t* length) {
  return guarded([&] {
    require_comm(cart, "cart");
    const Decomposition parts = read_shape(cart, shape, inside).parts;
    int rank = 0;
    check_mpi(MPI_Comm_rank(cart, &rank), "MPI_Comm_rank");
    Cells at{}, own{};
    std::int64_t all = 1;
    run_collectively(cart, [&] {
      check_number(subdomain, parts.subdomains(), "subdomain");
      at = parts.first(rank, subdomain), own = parts.box(rank, subdomain).own;
      for (int k = 0; k < parts.dims(); ++k)
        all = checked_multiply(all, parts.lower[k] + own[k] + parts.upper[k], "cells of an array");
    });
    if (first) std::copy_n(at.begin(), parts.dims(), first);
    if (cells) std::copy_n(own.begin(), parts.dims(), cells);
    if (length) *length = all;
  });
}

extern "C" int tonari_grid_free(tonari_grid* grid) {
  return free_handle(grid, "grid", [](tonari_grid_s& freed) -> Context& {
    const HaloGrid& g = *freed.grid;
    freed.kept.clear();
    agree(g.context()->comm(), error_of([&] {
            if (const int live = g.requests)
              fail(Errc::active, "the grid is in use on rank ", g.rank(), " by ", live,
                   live == 1 ? " request" : " requests",
                   "; free them first with tonari_request_free");
          }));
    return *g.context();
  });
}

namespace {

int init(tonari_grid grid, const HaloCall& call, MPI_Info info, tonari_request* request) {
  return init_or_collect(
      request,
      [&](Output output) {
        grid_of(grid);
        return prepare_halo(grid->grid, call, info, output);
      },
      [&] {
        grid_of(grid);
        return group_halo(grid->grid, call, info);
      });
}

int run(tonari_grid grid, const HaloCall& call) {
  return guarded([&] {
    grid_of(grid);
    run_halo(grid->grid, call, grid->kept);
  });
}

}  // namespace

extern "C" int tonari_grid_exchange_init(tonari_grid grid, int copy, MPI_Info info,
                                         tonari_request* request) {
  return tonari_grid_forward_init(grid, copy, nullptr, info, request);
}

extern "C" int tonari_grid_forward_init(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                        MPI_Info info, tonari_request* request) {
  return init(grid, {Direction::forward, copy, ghosts, MPI_OP_NULL}, info, request);
}

extern "C" int tonari_grid_reverse_init(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                        MPI_Op op, MPI_Info info, tonari_request* request) {
  return init(grid, {Direction::reverse, copy, ghosts, op}, info, request);
}

extern "C" int tonari_grid_forward(tonari_grid grid, int copy, const tonari_ghosts* ghosts) {
  return run(grid, {Direction::forward, copy, ghosts, MPI_OP_NULL});
}

extern "C" int tonari_grid_reverse(tonari_grid grid, int copy, const tonari_ghosts* ghosts,
                                   MPI_Op op) {
  return run(grid, {Direction::reverse, copy, ghosts, op});
}

extern "C" int tonari_grid_start_with(tonari_request request, void* const arrays[]) {
  return guarded([&] {
    require(arrays, "arrays");
    start_with(request, "grid_start_with", arrays);
  });
}

extern "C" int tonari_grid_get_info(tonari_grid grid, tonari_grid_info* info) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid);
    require(info, "info");
    const GridShape& shape = g.shape();
    *info = {shape.dims(),
             g.subdomains(),
             shape.fields,
             shape.copies,
             {},
             shape.element_bytes,
             shape.page,
             shape.bricked() ? padding_percent(g.bricks(0)) : 0,
             g.mappings(),
             static_cast<std::size_t>(g.bytes()),
             {}};
    std::ranges::copy(shape.parts.global(), info->global);
  });
}

extern "C" int tonari_grid_get_cells(tonari_grid grid, int subdomain, int64_t first[],
                                     int64_t cells[]) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain);
    const Cells at = g.shape().parts.first(g.rank(), subdomain);
    for (int k = 0; k < g.shape().dims(); ++k) {
      if (first) first[k] = at[k];
      if (cells) cells[k] = g.box(subdomain).own[k];
    }
  });
}

extern "C" int tonari_grid_data(tonari_grid grid, int subdomain, int copy, int field, void** base) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain, copy, field);
    require(base, "base");
    *base = g.base(subdomain, copy, field);
  });
}

extern "C" int tonari_grid_memory_hold(tonari_grid grid, tonari_grid_memory* memory) {
  return guarded([&] {
    grid_of(grid);
    require(memory, "memory");
    *memory = new tonari_grid_memory_s{grid->grid};
  });
}

extern "C" int tonari_grid_memory_release(tonari_grid_memory* memory) {
  return guarded([&] {
    require(memory, "memory");
    delete std::exchange(*memory, nullptr);
  });
}

extern "C" int tonari_grid_get_bricks(tonari_grid grid, int subdomain, tonari_bricks* bricks) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain);
    require(bricks, "bricks");
    if (!g.shape().bricked())
      fail(Errc::argument,
           "the grid's storage is array, which has no bricks; ask tonari_grid_get_array");
    const BrickLayout& l = g.bricks(subdomain);
    *bricks = {g.shape().dims(),
               {},
               {},
               {},
               {},
               l.count(),
               l.own_count(),
               l.interior_count(),
               l.number().data(),
               l.position().data(),
               l.neighbors().data(),
               l.place().data(),
               {}};
    std::ranges::copy(g.shape().brick, bricks->brick);
    std::ranges::copy(l.lower(), bricks->lower);
    std::ranges::copy(l.own(), bricks->own);
    std::ranges::copy(l.upper(), bricks->upper);
  });
}

extern "C" int tonari_grid_get_array(tonari_grid grid, int subdomain, tonari_array* array) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain);
    require(array, "array");
    if (g.shape().bricked())
      fail(Errc::argument, "the grid's storage is ", name(g.shape().storage),
           ", which is no array; ask tonari_grid_get_bricks");
    *array = g.array(subdomain);
  });
}

extern "C" int tonari_grid_at(tonari_grid grid, int subdomain, int copy, int field,
                              const int64_t index[], void** cell) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain, copy, field);
    require(cell, "cell");
    require(index, "index");
    const GridBox& b = g.box(subdomain);
    Cells at{};
    for (int k = 0; k < b.dims; ++k) {
      at[k] = index[k];
      if (at[k] < -b.lower[k] || at[k] >= b.own[k] + b.upper[k])
        fail(Errc::argument, "cell ", at[k], " of dimension ", k,
             " is beyond the ghosts; subdomain ", subdomain, " has ", -b.lower[k], " to ",
             b.own[k] + b.upper[k] - 1);
    }
    *cell = g.cell(subdomain, copy, field, at);
  });
}

extern "C" int tonari_grid_boxes(tonari_grid grid, int subdomain, int part, int* count,
                                 tonari_box boxes[]) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain);
    hand_out(count, boxes, boxes_of(g.box(subdomain), part), "boxes", box_for_c);
  });
}

extern "C" int tonari_grid_bricks_of(tonari_grid grid, int subdomain, int part, int64_t* count,
                                     int32_t numbers[]) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain);
    if (!g.shape().bricked())
      fail(Errc::argument,
           "the grid's storage is array, which has no bricks; ask tonari_grid_boxes");
    const BrickLayout& l = g.bricks(subdomain);
    std::int32_t first = 0, end = l.own_count();
    if (part == TONARI_PART_INTERIOR)
      end = l.interior_count();
    else if (part == TONARI_PART_SURFACE)
      first = l.interior_count();
    else if (part == TONARI_PART_GHOSTS)
      first = l.own_count(), end = l.count();
    else if (part != TONARI_PART_OWN)
      fail(Errc::argument, "part ", part, " does not exist; it must be one of TONARI_PART_...");
    std::vector<std::int32_t> all;
    for (std::int32_t b = first; b < end; ++b) all.push_back(b);
    hand_out(count, numbers, all, "bricks", [](std::int32_t b) { return b; });
  });
}

extern "C" int tonari_grid_import(tonari_grid grid, int subdomain, int copy, int field,
                                  const tonari_box* box, const void* array) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain, copy, field);
    require(array, "array"), require_usable(array, "array");
    const CellBox cells = given_box(g, subdomain, box);
    check_writable(g, subdomain, cells);
    write_box(g, subdomain, copy, field, cells, static_cast<const std::byte*>(array));
  });
}

extern "C" int tonari_grid_export(tonari_grid grid, int subdomain, int copy, int field,
                                  const tonari_box* box, void* array) {
  return guarded([&] {
    const HaloGrid& g = grid_of(grid, subdomain, copy, field);
    require(array, "array"), require_usable(array, "array");
    read_box(g, subdomain, copy, field, given_box(g, subdomain, box),
             static_cast<std::byte*>(array));
  });
}

namespace {

// Collective: checks the call alike on all ranks, and makes it.
template <class Transfer>
int transfer_file(tonari_grid grid, int copy, int field, const char* filename, Transfer transfer) {
  return guarded([&] {
    HaloGrid& g = grid_of(grid);
    agree(g.context()->comm(), error_of([&] {
            throw_refusal();
            check_number(copy, g.shape().copies, "copy");
            check_number(field, g.shape().fields, "field");
            if (!filename || !*filename) fail(Errc::argument, "`filename` is NULL or empty");
          }));
    run_collectively(g.context()->comm(), [&] { transfer(g, copy, field, filename); });
  });
}

}  // namespace

extern "C" int tonari_grid_save(tonari_grid grid, int copy, int field, const char* filename) {
  return transfer_file(grid, copy, field, filename, save_npy);
}

extern "C" int tonari_grid_load(tonari_grid grid, int copy, int field, const char* filename) {
  return transfer_file(grid, copy, field, filename, load_npy);
}
