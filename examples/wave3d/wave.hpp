// SPDX-License-Identifier: BSD-3-Clause
// The wave equation u_tt = Laplacian(u) on the periodic unit box, as two fields: u, and v = u_t
// half a step behind it. In bricks, u and v of a brick beside each other.
//
// Leapfrog:   v += dt Laplacian(u),  u += dt v,  with the Laplacian of order 8: a star of radius 4.
//
// Ghosts are 8 wide, two radii: u and v are exchanged together every second step, and the step
// between computes the ghosts that it leaves for the next.
#pragma once

#include <tonari/grid.hpp>

#include <array>
#include <string>
#include <vector>

class Wave {
 public:
  Wave(MPI_Comm cart, std::int64_t cells, double dt, bool mapped);

  // u = cos(2 pi k.x) cos(omega t) at time 0.
  void initialize(const std::array<int, 3>& k);
  void step();

  double energy() const;  // of this rank's cells; the sum over all ranks is kept by every step
  double error() const;   // the largest on this rank
  void save(const std::string& file) const { grid_.save(file, now_, u); }

 private:
  enum Field { u = 0, v = 1 };
  double* field(Field f, int copy) const { return grid_.data<double>(0, copy, f); }
  double standing(std::span<const std::int64_t> x) const;  // cos(2 pi k.x)

  std::int64_t cells_;
  double dt_;
  tonari::Grid grid_;
  std::vector<std::int64_t> first_;  // own cell, in the whole grid
  std::array<tonari::Request, 2> halo_;
  tonari::Expansion expansion_;
  std::array<int, 3> k_{};
  double omega_ = 0;
  int steps_ = 0, now_ = 0;
};
