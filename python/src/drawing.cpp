// SPDX-License-Identifier: BSD-3-Clause
#include "drawing.hpp"

#include <algorithm>

#include "analysis/printer.hpp"

namespace tonari {
namespace {

std::string offset_name(const Vec& offset, int dimensions) {
  std::string name = "(";
  for (int j = 0; j < dimensions; ++j) {
    if (j > 0) name += ',';
    if (offset[j] > 0) name += '+';
    name += std::to_string(offset[j]);
  }
  return name + ")";
}

std::string peer_name(const Grid& grid, int here, int peer) {
  return offset_name(grid.shortest(grid.coordinates(peer) - grid.coordinates(here)),
                     grid.dimensions());
}

}  // namespace

std::string draw(const Question& question, const OffsetVariant& planned, std::size_t most_blocks) {
  const Grid& grid = question.near->grid;
  const Plan plan = planned.plan(question.rank, question.emit);
  std::size_t width = 0;
  for (const Operation& op : plan.operations())
    if (op.kind != Kind::copy)
      width = std::max(width, peer_name(grid, question.rank, op.peer).size());
  PrintOptions options;
  options.bytes = [&](Slice) { return question.bytes; };
  options.most_blocks = most_blocks;
  options.peer = [&](int peer) {
    std::string name = peer_name(grid, question.rank, peer);
    name.resize(width, ' ');
    return name;
  };
  return print(plan, options);
}

}  // namespace tonari
