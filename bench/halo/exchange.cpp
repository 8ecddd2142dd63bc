// SPDX-License-Identifier: BSD-3-Clause
#include "halo/exchange.hpp"

#include <unistd.h>

#include "layout/brick_layout.hpp"

namespace bench::halo {

namespace {

tonari::BrickLayout layout_of(const Cube& cube, const Options& options, long long unit) {
  const tonari::Cells size{cube.size, cube.size, cube.size},
      ghost{cube.ghost, cube.ghost, cube.ghost}, brick{options.brick, options.brick, options.brick};
  tonari::BrickShape shape;
  shape.brick = brick, shape.element_bytes = sizeof(double), shape.unit = unit;
  return {{3, size, ghost, ghost}, shape, tonari::surface_order(3)};
}

Message message_of(const tonari::BrickLayout& layout, tonari::Region direction, Sending sending) {
  if (sending == Sending::cells) return {1, static_cast<long long>(layout.payload(direction))};
  if (sending == Sending::views)
    return {1, static_cast<long long>(layout.message(direction).bytes)};
  Message all{0, 0};
  for (const tonari::BrickPiece& piece :
       sending == Sending::pieces ? layout.send(direction) : layout.send_basic(direction))
    ++all.pieces, all.bytes += static_cast<long long>(piece.bytes);
  return all;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"array", "pack"},
      {"array", "datatypes"},
      {"buffers", "network"},
      {"buffers", "network-remote"},
      {"array", "tonari-pack", "pack"},
      {"array", "tonari-datatypes", "datatypes"},
      {"array", "shift", "shift"},
      {"array", "plan", "plan"},
      {"array", "auto", "auto"},
      {"array", "faces", "auto", Task::faces},
      {"array", "reverse", "auto", Task::reverse},
      {"array", "fortran", "auto", Task::all, true},
      {"array", "blocks", "auto", Task::all, false, true},
      {"array", "blocks-reverse", "auto", Task::reverse, false, true},
      {"array", "start-with", "auto", Task::all, false, false, Use::start_with},
      {"array", "two-requests", "auto", Task::all, false, false, Use::two_requests},
      {"array", "group", "plan", Task::all, false, false, Use::group},
      {"array", "requests", "auto", Task::all, false, false, Use::requests},
      {"brick", "basic", "basic"},
      {"brick", "layout", "layout"},
      {"brick", "plan", "plan"},
      {"brick", "auto", "auto"},
      {"mapped", "layout", "layout"},
      {"mapped", "memmap", "memmap"},
      {"mapped", "shift", "shift"},
      {"mapped", "plan", "plan"},
      {"mapped", "auto", "auto"},
      {"mapped", "zero-byte", "zero-byte"}};
  return all;
}

std::string to_text(const Kind& kind) { return kind.storage + "/" + kind.exchange; }
bool matches(const Kind& kind, const std::string& name) {
  return name == kind.exchange || name == to_text(kind);
}
bool is_ours(const Kind& kind) { return !kind.halo.empty(); }

std::optional<Storage> storage_of(const Kind& kind) {
  if (kind.storage == "buffers") return std::nullopt;
  if (kind.storage == "array") return kind.fortran ? Storage::fortran : Storage::array;
  if (kind.storage == "brick") return Storage::brick;
  return kind.halo == "zero-byte" ? Storage::mapped_ghosts : Storage::mapped;
}

bool verify_field(Exchange& exchange, const Field& field, int generation) {
  bool good = true;
  for (int i = 0; i < (exchange.copies_alternate() ? 2 : 1); ++i) {
    const int copy = exchange.copy();
    field.fill(copy, generation + i);
    field.poison_ghosts(copy);
    exchange.run();
    good = field.delivered(copy, generation + i) && good;
    MPI_Barrier(field.torus().comm());
  }
  return good;
}

bool verify_faces(Exchange& exchange, const Field& field, int generation) {
  field.fill(0, generation);
  field.poison_ghosts(0);
  exchange.run();
  const bool good = field.delivered(0, generation, 1);
  MPI_Barrier(field.torus().comm());
  return good;
}

bool verify_reverse(Exchange& exchange, const Field& field, int generation) {
  field.fill(0, generation);
  field.fill_ghosts(0, generation);
  exchange.run();
  const bool good = field.added(0, generation);
  MPI_Barrier(field.torus().comm());
  return good;
}

std::vector<Message> messages_of(const Cube& cube, const Options& options, long long unit,
                                 Sending sending) {
  const tonari::BrickLayout layout = layout_of(cube, options, unit);
  std::vector<Message> messages;
  for (const tonari::Region direction : tonari::directions(3))
    messages.push_back(message_of(layout, direction, sending));
  return messages;
}

long long shifted_bytes(const Cube& cube, const Options& options, long long unit, int dimension) {
  const tonari::BrickLayout layout = layout_of(cube, options, unit);
  long long bytes = 0;
  for (const int side : {-1, 1})
    for (const tonari::BrickPiece& piece : layout.shift_send(dimension, side))
      bytes += static_cast<long long>(piece.bytes);
  return bytes;
}

double padding_percent(const Cube& cube, const Options& options, long long unit) {
  return tonari::padding_percent(layout_of(cube, options, unit));
}

long long page_of(const Options& options) {
  return options.page ? options.page : sysconf(_SC_PAGESIZE);
}

}  // namespace bench::halo
