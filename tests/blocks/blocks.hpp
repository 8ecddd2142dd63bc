// SPDX-License-Identifier: BSD-3-Clause
// Random blocks, and what every cell of them must hold, by a brute-force oracle: each rank knows
// the owner of each cell of the grid.
#pragma once

#include <gtest/gtest.h>
#include <tonari/blocks.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "support/cells.hpp"
#include "support/must.hpp"
#include "support/oracle.hpp"

namespace tonari::test {

// The same on all ranks.
struct Blocks {
  std::vector<tonari_box> boxes;
  std::vector<int> owners;
  tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;

  int dims() const { return shape.dims; }
  int fields() const { return std::max(shape.fields, 1); }
  const tonari_blocks_shape* given() {
    shape.count = static_cast<std::int64_t>(boxes.size());
    shape.boxes = boxes.data(), shape.owners = owners.data();
    return &shape;
  }
  tonari_box with_ghosts(std::size_t b) const {
    tonari_box box = boxes[b];
    for (int k = 0; k < dims(); ++k) box.first[k] -= shape.lower[k], box.end[k] += shape.upper[k];
    return box;
  }
  Index wrapped(Index x) const {
    for (int k = 0; k < dims(); ++k) {
      const std::int64_t period = shape.domain.end[k] - shape.domain.first[k];
      if (shape.periodic[k])
        x[k] = shape.domain.first[k] + ((x[k] - shape.domain.first[k]) % period + period) % period;
    }
    return x;
  }
  // The block that has a cell, for all cells that some block has.
  std::map<Index, std::size_t> block_of() const {
    std::map<Index, std::size_t> all;
    for (std::size_t b = 0; b < boxes.size(); ++b)
      for_cells(boxes[b], dims(), [&](const Index& x) { all[x] = b; });
    return all;
  }
  std::string text() const {
    std::string line = std::to_string(dims()) + "-d, order " + std::to_string(shape.order);
    for (int k = 0; k < dims(); ++k)
      line += std::string(shape.periodic[k] ? ", periodic" : ", open") + " -" +
              std::to_string(shape.lower[k]) + " +" + std::to_string(shape.upper[k]);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      line += "; " + std::to_string(owners[b]) + ":";
      for (int k = 0; k < dims(); ++k)
        line += " " + std::to_string(boxes[b].first[k]) + "-" + std::to_string(boxes[b].end[k]);
    }
    return line;
  }
};

// Cuts a box into two, again and again; some of the parts are left out.
inline void cut(Random& random, const tonari_box& box, int dims, int depth, Blocks& blocks) {
  const int k = pick(random, 0, dims - 1);
  const auto extent = static_cast<int>(box.end[k] - box.first[k]);
  if (depth == 0 || extent < 2) {
    if (pick(random, 0, 5) == 0) return;
    blocks.boxes.push_back(box);
    blocks.owners.push_back(pick(random, 0, world_size() - 1));
    return;
  }
  tonari_box lower = box, upper = box;
  lower.end[k] = upper.first[k] = box.first[k] + pick(random, 1, extent - 1);
  cut(random, lower, dims, depth - 1, blocks);
  cut(random, upper, dims, depth - 1, blocks);
}

inline Blocks draw(Random& random, int dims) {
  Blocks blocks;
  blocks.shape.dims = dims;
  for (int k = 0; k < dims; ++k) {
    blocks.shape.domain.first[k] = pick(random, -20, 20);
    blocks.shape.domain.end[k] = blocks.shape.domain.first[k] + pick(random, 2,
                                                                     dims == 1   ? 40
                                                                     : dims == 2 ? 14
                                                                                 : 8);
    blocks.shape.periodic[k] = pick(random, 0, 1);
    blocks.shape.lower[k] = pick(random, 0, 3), blocks.shape.upper[k] = pick(random, 0, 3);
  }
  cut(random, blocks.shape.domain, dims, pick(random, 0, 5), blocks);
  blocks.shape.fields = pick(random, 0, 2);
  blocks.shape.order = pick(random, 0, 1) ? TONARI_ORDER_FORTRAN : TONARI_ORDER_C;
  blocks.shape.type = MPI_DOUBLE;
  return blocks;
}

inline tonari_ghosts draw_ghosts(Random& random, const Blocks& blocks) {
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  if (pick(random, 0, 1)) return ghosts;
  const auto width = [&](std::int64_t all) {
    return static_cast<std::int64_t>(pick(random, -1, static_cast<int>(all)));
  };
  for (int k = 0; k < blocks.dims(); ++k)
    ghosts.lower[k] = width(blocks.shape.lower[k]), ghosts.upper[k] = width(blocks.shape.upper[k]);
  ghosts.along = pick(random, 0, blocks.dims());
  return ghosts;
}

class Arrays {
 public:
  explicit Arrays(Blocks& blocks) : blocks_(blocks), block_of_(blocks.block_of()) {
    must(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), MPI_INFO_NULL, &handle));
    for (std::size_t b = 0; b < blocks.boxes.size(); ++b)
      if (blocks.owners[b] == world_rank()) own_.push_back(b);
    for (const std::size_t b : own_)
      for (int f = 0; f < blocks.fields(); ++f)
        values_.emplace_back(
            static_cast<std::size_t>(cells_in(blocks_.with_ghosts(b), blocks_.dims())));
    for (std::vector<double>& array : values_) pointers.push_back(array.data());
  }
  ~Arrays() { must(tonari_blocks_free(&handle)); }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  static double value(std::size_t block, int field, const Index& x, int round) {
    auto number = static_cast<std::uint64_t>(round * 1000 + field * 100) + 7919 * block;
    for (const std::int64_t at : x)
      number = (number ^ static_cast<std::uint64_t>(at + 1000)) * 0x9e3779b97f4a7c15u,
      number ^= number >> 29;
    return static_cast<double>(number >> 40) / 3;
  }

  void fill(int round) {
    for_fields([&](std::size_t b, int f, std::vector<double>& array) {
      for_cells(blocks_.with_ghosts(b), blocks_.dims(),
                [&](const Index& x) { array[place(b, x)] = value(b, f, x, round); });
    });
  }

  void expect_forward(const tonari_ghosts& ghosts, int round) {
    for_fields([&](std::size_t b, int f, const std::vector<double>& array) {
      std::string wrong;
      for_cells(blocks_.with_ghosts(b), blocks_.dims(), [&](const Index& x) {
        const auto owner = block_of_.find(blocks_.wrapped(x));
        const bool filled = owner != block_of_.end() && chosen(b, x, ghosts);
        const double want =
            filled ? value(owner->second, f, owner->first, round) : value(b, f, x, round);
        if (array[place(b, x)] != want && wrong.empty()) wrong = text(b, f, x, filled);
      });
      EXPECT_EQ(wrong, "");
    });
  }

  // Bit by bit: contributions are combined in the order that blocks.h tells.
  void expect_reverse(const tonari_ghosts& ghosts, MPI_Op op, int round) {
    std::map<std::pair<std::size_t, Index>, std::vector<std::pair<std::size_t, Index>>> by_cell;
    for (int rank = 0; rank < world_size(); ++rank)
      for (std::size_t b = 0; b < blocks_.boxes.size(); ++b)
        if (blocks_.owners[b] == rank)
          for_cells(blocks_.with_ghosts(b), blocks_.dims(), [&](const Index& x) {
            const auto owner = block_of_.find(blocks_.wrapped(x));
            if (owner != block_of_.end() && chosen(b, x, ghosts))
              by_cell[{owner->second, owner->first}].push_back({b, x});
          });
    for_fields([&](std::size_t b, int f, const std::vector<double>& array) {
      std::string wrong;
      for_cells(blocks_.with_ghosts(b), blocks_.dims(), [&](const Index& x) {
        double want = value(b, f, x, round);
        if (inside(b, x))
          for (const auto& [block, ghost] : by_cell[{b, x}]) {
            const double more = value(block, f, ghost, round);
            want = op == MPI_SUM   ? want + more
                   : op == MPI_MIN ? std::min(want, more)
                                   : std::max(want, more);
          }
        if (array[place(b, x)] != want && wrong.empty()) wrong = text(b, f, x, inside(b, x));
      });
      EXPECT_EQ(wrong, "");
    });
  }

  tonari_blocks handle = TONARI_BLOCKS_NULL;
  std::vector<void*> pointers;

 private:
  template <class F>
  void for_fields(F f) {
    std::size_t array = 0;
    for (const std::size_t b : own_)
      for (int field = 0; field < blocks_.fields(); ++field) f(b, field, values_[array++]);
  }
  // In an array, without asking the library.
  std::size_t place(std::size_t b, const Index& x) const {
    const tonari_box box = blocks_.with_ghosts(b);
    std::int64_t at = 0;
    for (int i = 0; i < blocks_.dims(); ++i) {
      const int k = blocks_.shape.order == TONARI_ORDER_C ? i : blocks_.dims() - 1 - i;
      at = at * (box.end[k] - box.first[k]) + x[k] - box.first[k];
    }
    return static_cast<std::size_t>(at);
  }
  bool inside(std::size_t b, const Index& x) const {
    for (int k = 0; k < blocks_.dims(); ++k)
      if (x[k] < blocks_.boxes[b].first[k] || x[k] >= blocks_.boxes[b].end[k]) return false;
    return true;
  }
  // Whether x is a ghost of the block, and one of these.
  bool chosen(std::size_t b, const Index& x, const tonari_ghosts& ghosts) const {
    int along = 0;
    const auto width = [](std::int64_t given, std::int64_t all) {
      return given == 0 ? all : given == TONARI_GHOSTS_NONE ? 0 : given;
    };
    for (int k = 0; k < blocks_.dims(); ++k) {
      const std::int64_t below = blocks_.boxes[b].first[k] - x[k],
                         above = x[k] - blocks_.boxes[b].end[k] + 1;
      if (below > width(ghosts.lower[k], blocks_.shape.lower[k])) return false;
      if (above > width(ghosts.upper[k], blocks_.shape.upper[k])) return false;
      along += below > 0 || above > 0;
    }
    return along > 0 && (ghosts.along == 0 || along <= ghosts.along);
  }
  std::string text(std::size_t b, int f, const Index& x, bool changes) const {
    std::string line = changes ? "wrong value" : "not left alone";
    line += " in block " + std::to_string(b) + ", field " + std::to_string(f) + ", cell";
    for (int k = 0; k < blocks_.dims(); ++k) line += " " + std::to_string(x[k]);
    return line;
  }

  const Blocks& blocks_;
  const std::map<Index, std::size_t> block_of_;
  std::vector<std::size_t> own_;
  std::vector<std::vector<double>> values_;
};

}  // namespace tonari::test
