// SPDX-License-Identifier: BSD-3-Clause
// What exchanges of a grid own besides: their views, and a mark for the grid that it is in use.
#pragma once

#include <memory>
#include <utility>

#include "channels/abandon.hpp"
#include "grid/halo_program.hpp"

namespace tonari {

// One for each request.
class GridMark {
 public:
  explicit GridMark(std::shared_ptr<HaloGrid> grid) : grid_(std::move(grid)) { ++grid_->requests; }
  ~GridMark() { --grid_->requests; }
  GridMark(const GridMark&) = delete;
  GridMark& operator=(const GridMark&) = delete;

 private:
  std::shared_ptr<HaloGrid> grid_;
};

struct HaloUse {
  std::shared_ptr<const GridMark> mark;
  std::shared_ptr<Views> views;    // of several exchanges, perhaps
  void give_up() { leak(views); }  // sends may still read them
};

}  // namespace tonari
