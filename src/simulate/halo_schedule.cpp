// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/halo_schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "cost/effort.hpp"
#include "layout/brick_layout.hpp"
#include "simulate/machine.hpp"
#include "simulate/schedule_builder.hpp"
#include "simulate/shifts.hpp"

namespace tonari::sim {
namespace {

using Id = std::uint32_t;

constexpr int dims = 3;
constexpr std::int64_t cell_bytes = 8;
constexpr std::array<std::pair<HaloWay, const char*>, 4> names{{{HaloWay::pack, "pack"},
                                                                {HaloWay::basic, "basic"},
                                                                {HaloWay::layout, "layout"},
                                                                {HaloWay::memmap, "memmap"}}};

GridBox box_of(const HaloCube& cube) {
  GridBox box{dims, {}, {}, {}};
  for (std::size_t j = 0; j < dims; ++j) {
    box.own[j] = cube.size;
    box.lower[j] = box.upper[j] = cube.ghost;
  }
  return box;
}

BrickLayout bricks_of(const HaloCube& cube, std::int64_t unit) {
  BrickShape shape;
  for (std::size_t j = 0; j < dims; ++j) shape.brick[j] = cube.brick;
  shape.element_bytes = cell_bytes;
  shape.unit = unit;
  return {box_of(cube), shape, surface_order(dims)};
}

Vec offset_of(Region direction) {
  Vec offset;
  for (int j = 0; j < dims; ++j) offset[static_cast<std::size_t>(j)] = sign(direction, j, dims);
  return offset;
}

std::vector<HaloMessage> packed(const HaloCube& cube) {
  const GridBox box = box_of(cube);
  check(box);
  std::vector<HaloMessage> messages;
  for (Region direction : directions(dims)) {
    const CellBox sent = send_box(box, direction);
    const std::int64_t row = sent.end[dims - 1] - sent.first[dims - 1];
    const std::int64_t cells = count(sent, dims);
    messages.push_back({offset_of(direction), static_cast<std::uint64_t>(cells * cell_bytes),
                        static_cast<std::uint64_t>(cells / row),
                        static_cast<std::uint64_t>(row * cell_bytes)});
  }
  return messages;
}

std::vector<HaloMessage> of_bricks(HaloWay way, const HaloCube& cube) {
  const BrickLayout layout = bricks_of(cube, way == HaloWay::memmap ? cube.page : 1);
  std::vector<HaloMessage> messages;
  const auto add = [&](Region direction, const BrickPiece& piece) {
    if (piece.bytes > 0)
      messages.push_back({offset_of(direction), static_cast<std::uint64_t>(piece.bytes), 0, 0});
  };
  for (Region direction : directions(dims)) {
    if (way == HaloWay::memmap) {
      add(direction, layout.message(direction));
      continue;
    }
    for (const BrickPiece& piece :
         way == HaloWay::basic ? layout.send_basic(direction) : layout.send(direction))
      add(direction, piece);
  }
  return messages;
}

Ticks copies(const HaloMessage& message, const LogGP& machine) {
  const double row = machine.copy_block + machine.copy_byte * units(message.row_bytes);
  return to_ticks(units(message.rows) * row);
}

}  // namespace

const char* name(HaloWay way) {
  return std::find_if(names.begin(), names.end(),
                      [&](const auto& entry) { return entry.first == way; })
      ->second;
}

std::optional<HaloWay> halo_way_named(std::string_view text) {
  for (const auto& [way, name] : names)
    if (text == name) return way;
  return std::nullopt;
}

std::vector<HaloMessage> halo_messages(HaloWay way, const HaloCube& cube) {
  if (cube.ghost < 1)
    fail(Errc::argument, "ghosts of ", cube.ghost, " cells: they need one at least");
  return way == HaloWay::pack ? packed(cube) : of_bricks(way, cube);
}

// Receive i and send i have the steps i and count + i. What this rank sends with an offset it
// receives from the opposite one, with the same number.
Schedule halo_schedule(HaloWay way, const HaloCube& cube, const Grid& ranks, const LogGP& machine) {
  if (ranks.dimensions() != dims || !ranks.fully_periodic())
    fail(Errc::topology, "ghosts of a cube are exchanged on a torus of three dimensions");
  const std::vector<HaloMessage> messages = halo_messages(way, cube);
  const Id count = static_cast<Id>(messages.size());
  ScheduleBuilder builder;
  for (Id i = 0; i < count; ++i) builder.add(Act::recv, messages[i].bytes, 0, count + i);
  for (Id i = 0; i < count; ++i) builder.add(Act::send, messages[i].bytes, 0, i);
  for (Id i = 0; i < count; ++i) {
    const Ticks busy = copies(messages[i], machine);
    if (busy == 0) continue;
    builder.require(count + i, builder.add(Act::calc, busy));
    builder.require(builder.add(Act::calc, busy), i);
  }
  builder.end_rank();
  Schedule schedule = builder.take();
  Shifts shifts(schedule, ranks);
  for (Id i = 0; i < count; ++i) {
    const int target = ranks.rank_at(messages[i].offset);
    schedule.steps[i].peer = shifts.to(shifts.back(target));
    schedule.steps[count + i].peer = shifts.to(target);
  }
  return schedule;
}

}  // namespace tonari::sim
