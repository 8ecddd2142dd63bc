// SPDX-License-Identifier: BSD-3-Clause
#include "grid/shape.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.hpp"
#include "base/hash.hpp"
#include "cells/cell_type.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "grid/grid_device.hpp"
#include "grid/npy_type.hpp"
#include "memory/pages.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "request/guard.hpp"

namespace tonari {
namespace {

int at_least_one(int given, const char* what) {
  if (given < 0)
    fail(Errc::argument, "shape.", what, " is ", given, "; it must be positive, or 0 for 1");
  return given == 0 ? 1 : given;
}

void read_extents(const tonari_grid_shape& given, GridShape& shape) {
  Decomposition& parts = shape.parts;
  int of_rank = 1;
  for (int k = 0; k < parts.dims(); ++k) {
    parts.lower[k] = given.lower[k], parts.upper[k] = given.upper[k];
    parts.per_rank[k] = at_least_one(given.subdomains[k], "subdomains");
    if (given.cells[k] < 1)
      fail(Errc::argument, "the number of cells in dimension ", k, " is ", given.cells[k],
           "; it must be positive");
    checked_multiply(parts.ranks.size(k), parts.per_rank[k], "number of subdomains");
    of_rank = checked_multiply(of_rank, parts.per_rank[k], "number of subdomains");
    if (given.brick[k] < 0)
      fail(Errc::argument, "the brick has ", given.brick[k], " cells in dimension ", k,
           "; it must be positive, or 0 for the default");
    shape.brick[k] = given.brick[k] > 0 ? given.brick[k] : parts.dims() <= 3 ? 8 : 4;
  }
}

void read_storage(const tonari_grid_shape& given, GridShape& shape) {
  if (given.storage < TONARI_STORAGE_ARRAY || given.storage > TONARI_STORAGE_MAPPED)
    fail(Errc::argument, "shape.storage is ", given.storage,
         "; it must be TONARI_STORAGE_ARRAY, _BRICK or _MAPPED");
  shape.storage = static_cast<GridStorage>(given.storage);
  shape.order = read_order(given.order);
  if (shape.order != ArrayOrder::c && shape.bricked())
    fail(Errc::argument, "shape.order is for storage array; this is storage ", name(shape.storage),
         ", whose bricks have an order of their own");
  const bool mapped = shape.storage == GridStorage::mapped;
  shape.interleaved = given.interleaved != 0;
  shape.huge = given.huge_pages != 0;
  shape.mapped_ghosts = given.mapped_ghosts != 0;
  shape.page = mapped ? (given.page > 0 ? given.page : system_page()) : 0;  // the host's
  if (shape.interleaved && !shape.bricked())
    fail(Errc::argument,
         "fields can be interleaved in bricks only; choose storage brick or mapped, or leave "
         "shape.interleaved 0");
  if (!mapped && (given.page || shape.huge || shape.mapped_ghosts))
    fail(Errc::argument,
         "shape.page, huge_pages and mapped_ghosts are for storage mapped; this is storage ",
         name(shape.storage));
  if (shape.mapped_ghosts && shape.copies < 2)
    fail(Errc::argument,
         "mapped ghosts show what a neighbor writes at once, so a grid needs at least 2 copies to "
         "have them; set shape.copies to 2, or leave shape.mapped_ghosts 0");
  if (mapped) check_page(shape.page, shape.huge, 0);
}

// Mapped storage on a device.
void read_page_of_device(const tonari_grid_shape& given, GridShape& shape) {
  if (!shape.mapped_ghosts)
    fail(Errc::argument,
         "storage mapped in memory of a device is for ghosts that are the surface; set "
         "shape.mapped_ghosts, or choose storage brick, whose messages one launch packs");
  if (shape.huge)
    fail(Errc::argument,
         "shape.huge_pages are pages of the host, and shape.memory is TONARI_MEMORY_DEVICE; leave "
         "one of them 0");
  const std::size_t least = page_of(device_of_number(given.device));
  if (given.page % least != 0)
    fail(Errc::argument, "shape.page is ", given.page, ", but device ", given.device,
         " maps memory in multiples of ", least, " bytes; give one of these, or 0");
  if (given.page == 0) shape.page = least;
}

void read_memory(const tonari_grid_shape& given, GridShape& shape) {
  if (given.memory != TONARI_MEMORY_HOST && given.memory != TONARI_MEMORY_DEVICE)
    fail(Errc::argument, "shape.memory is ", given.memory,
         "; it must be TONARI_MEMORY_HOST or TONARI_MEMORY_DEVICE");
  if (given.memory == TONARI_MEMORY_HOST && given.device != 0)
    fail(Errc::argument, "shape.device is ", given.device,
         ", but shape.memory is TONARI_MEMORY_HOST; make that TONARI_MEMORY_DEVICE, or leave the "
         "device out");
  if (given.memory == TONARI_MEMORY_HOST) return;
  shape.device = given.device;
  if (shape.storage == GridStorage::mapped) read_page_of_device(given, shape);
}

// What all ranks must have said alike, by name.
using Members = std::vector<std::pair<std::string, std::int64_t>>;
Members members(const tonari_grid_shape& given, const GridShape& shape) {
  Members all;
  const auto add = [&](std::string what, auto value) {
    all.emplace_back(std::move(what), static_cast<std::int64_t>(value));
  };
  add("local", given.local != 0);
  for (int k = 0; k < shape.dims(); ++k) {
    add(text("cells[", k, "]"), given.local ? 0 : given.cells[k]);
    add(text("lower[", k, "]"), shape.parts.lower[k]);
    add(text("upper[", k, "]"), shape.parts.upper[k]);
    add(text("subdomains[", k, "]"), shape.parts.per_rank[k]);
    add(text("brick[", k, "]"), shape.brick[k]);
  }
  add("storage", shape.storage);
  add("type (in bytes)", shape.element_bytes);
  add("fields", shape.fields);
  add("copies", shape.copies);
  add("interleaved", shape.interleaved);
  add("page", shape.storage == GridStorage::mapped && given.page == 0 ? 0 : shape.page);
  add("huge_pages", shape.huge);
  add("mapped_ghosts", shape.mapped_ghosts);
  add("order", shape.order);
  return all;
}

std::uint64_t fingerprint(const Members& members) {
  Hash hash;
  for (const auto& [what, value] : members) hash.word(static_cast<std::uint64_t>(value));
  return hash.value();
}

// Collective, where ranks differ: names the first member in which one differs from rank 0.
[[noreturn]] void fail_by_name(MPI_Comm cart, const Members& mine) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(cart, &ranks), "MPI_Comm_size");
  const std::size_t count = mine.size();
  std::vector<std::int64_t> values, all(count * static_cast<std::size_t>(ranks));
  for (const auto& [what, value] : mine) values.push_back(value);
  stay_together(cart);
  gather_all(values.data(), static_cast<int>(count), MPI_INT64_T, all.data(), cart);
  std::size_t at = 0;
  while (at + 1 < all.size() && all[at] == all[at % count]) ++at;
  fail(Errc::mismatch, "shape.", mine[at % count].first, " is ", all[at % count], " on rank 0 and ",
       all[at], " on rank ", at / count,
       "; all members must be the same on all ranks, but for the cells if shape.local is set");
}

// Collective: every rank says what it has along each dimension; ranks at one coordinate must say
// the same.
void gather_cuts(MPI_Comm cart, const tonari_grid_shape& given, GridShape& shape) {
  Decomposition& parts = shape.parts;
  const int rank = rank_in(cart);
  const Vec here = parts.ranks.coordinates(rank);
  std::vector<std::int64_t> most;
  for (int k = 0; k < parts.dims(); ++k) {
    const std::size_t begin = most.size();
    most.resize(begin + static_cast<std::size_t>(parts.ranks.size(k)),
                std::numeric_limits<std::int64_t>::min());
    most[begin + static_cast<std::size_t>(here[k])] = given.cells[k];
  }
  std::vector<std::int64_t> least;
  // the least of positive numbers is the greatest of negative ones
  for (const std::int64_t cells : most) least.push_back(cells < 0 ? cells : -cells);
  const int words = static_cast<int>(most.size());
  stay_together(cart);
  reduce_all(most.data(), words, MPI_INT64_T, MPI_MAX, cart);
  reduce_all(least.data(), words, MPI_INT64_T, MPI_MAX, cart);
  std::size_t at = 0;
  for (int k = 0; k < parts.dims(); ++k)
    for (int i = 0; i < parts.ranks.size(k); ++i, ++at) {
      if (here[k] == i && (most[at] != -least[at]))
        fail(Errc::mismatch, "rank ", rank, " gave ", given.cells[k], " cells in dimension ", k,
             ", where another rank at coordinate ", i, " gave ",
             given.cells[k] == most[at] ? -least[at] : most[at],
             "; subdomains that lie beside each other must have the same number");
      parts.cuts[k].insert(parts.cuts[k].end(), static_cast<std::size_t>(parts.per_rank[k]),
                           most[at]);
    }
}

}  // namespace

const char* name(GridStorage storage) {
  static const char* const names[] = {"array", "brick", "mapped"};
  return names[static_cast<int>(storage)];
}

GridShape read_shape(MPI_Comm cart, const tonari_grid_shape* given, Output output) {
  require_intracommunicator(cart);  // all ranks know
  std::optional<GridShape> shape;
  Members mine;
  const std::optional<Error> error = error_of([&] {
    throw_refusal();
    if (output.name) require(output.address, output.name);
    require(given, "shape");
    shape.emplace(GridShape{Decomposition{require_grid(cart, most_surface_dims)}});
    if (given->dims != shape->dims())
      fail(Errc::argument, "shape.dims is ", given->dims, ", but the communicator's topology has ",
           shape->dims(), " dimensions; they must be as many");
    if (std::ranges::any_of(given->reserved, [](int word) { return word != 0; }))
      fail(Errc::argument, "shape.reserved is not 0; start from TONARI_GRID_SHAPE_INIT");
    const CellType cell = read_cell_type(given->type);
    shape->element_bytes = cell.bytes, shape->number = cell.number;
    shape->npy_type = npy_type(given->type, shape->element_bytes);
    shape->fields = at_least_one(given->fields, "fields");
    shape->copies = at_least_one(given->copies, "copies");
    read_extents(*given, *shape);
    read_storage(*given, *shape);
    read_memory(*given, *shape);
    mine = members(*given, *shape);
  });
  // Devices map memory in larger pages than the host, perhaps on some ranks only.
  const std::array ballots{Ballot(fingerprint(mine)), Ballot(shape ? shape->page : 0)};
  std::vector<std::uint64_t> most;
  const bool same = agree(cart, error, ballots, &most)[0];
  shape->page = most[1];
  run_collectively(cart, [&] {
    if (!same) fail_by_name(cart, mine);
    if (given->local) return gather_cuts(cart, *given, *shape);
    for (int k = 0; k < shape->dims(); ++k)
      shape->parts.cuts[k] = cut_evenly(given->cells[k], shape->bricked() ? shape->brick[k] : 1,
                                        shape->parts.ranks.size(k) * shape->parts.per_rank[k], k);
  });
  return *std::move(shape);
}

}  // namespace tonari
