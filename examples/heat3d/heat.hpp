// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a periodic box, 27-point stencil, distributed over a 3-d grid of ranks; and
// its exact solution.
#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <vector>

using Triple = std::array<int, 3>;

// n points per rank in each dimension, one layer of ghost points around them. Ranks lie on a
// periodic grid.
struct Domain {
  MPI_Comm cart;
  Triple ranks, me;
  int n;

  int width() const { return n + 2; }
  std::size_t volume() const { return static_cast<std::size_t>(width()) * width() * width(); }
  std::size_t index(int i, int j, int k) const {
    return (static_cast<std::size_t>(i) * width() + j) * width() + k;
  }
  int global(int dimension) const { return n * ranks[dimension]; }
  bool root() const { return me == Triple{0, 0, 0}; }
};

using Field = std::vector<double>;  // volume() values, last index fastest

Domain make_domain(int points_per_rank);

// A plane wave, amplitude * cos(2 pi k.x / N + phase): an eigenvector of the discrete operator.
struct Mode {
  Triple k;
  double amplitude, phase;
};
std::span<const Mode> initial_modes();

// What one step multiplies the mode by.
double eigenvalue(const Domain& domain, const Mode& mode);

// The sum of the modes after so many steps, from the eigenvalues; ghost points are set to NaN, so
// that one that is not exchanged cannot go unnoticed.
Field exact_field(const Domain& domain, int steps);

// One explicit step; reads the ghost points of u.
void advance(const Domain& domain, const Field& u, Field& next);

// Largest difference of two fields inside the domain, ghost points left out. [collective]
double max_difference(const Domain& domain, const Field& a, const Field& b);
bool bitwise_equal(const Domain& domain, const Field& a, const Field& b);

// How much of each initial mode is in the field, relative to its amplitude at the start.
// [collective]
std::vector<double> mode_content(const Domain& domain, const Field& u);

// The plane through the middle of the first dimension, global(1) x global(2) values; complete on
// the root only. [collective]
std::vector<double> middle_slice(const Domain& domain, const Field& u);
