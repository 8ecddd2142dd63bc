// SPDX-License-Identifier: BSD-3-Clause
// What an exchange of a grid owns besides: its views, and a mark for the grid that it is in use.
#pragma once

#include <memory>
#include <utility>

#include "channels/abandon.hpp"
#include "grid/halo_program.hpp"

namespace tonari {

class HaloUse {
 public:
  HaloUse(std::shared_ptr<HaloGrid> grid, Views views)
      : grid_(std::move(grid)), views_(std::move(views)) {
    ++grid_->requests;
  }
  ~HaloUse() { --grid_->requests; }
  HaloUse(const HaloUse&) = delete;
  HaloUse& operator=(const HaloUse&) = delete;
  void give_up() { leak(std::move(views_)); }  // sends may still read them

 private:
  std::shared_ptr<HaloGrid> grid_;
  Views views_;
};

}  // namespace tonari
