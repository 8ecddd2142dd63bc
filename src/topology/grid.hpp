// SPDX-License-Identifier: BSD-3-Clause
// A d-dimensional grid of ranks, periodic or not in each dimension, numbered in row-major order as
// MPI_Cart_create does.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tonari {

inline constexpr int max_dimensions = 8;

// A coordinate or a relative offset. Entries past the grid's number of dimensions are zero.
struct Vec : std::array<std::int32_t, max_dimensions> {
  Vec() : std::array<std::int32_t, max_dimensions>{} {}
  Vec(std::initializer_list<int> values);

  friend Vec operator+(const Vec& a, const Vec& b) {
    Vec sum;
    for (int j = 0; j < max_dimensions; ++j) sum[j] = a[j] + b[j];
    return sum;
  }
  friend Vec operator-(const Vec& a, const Vec& b) {
    Vec difference;
    for (int j = 0; j < max_dimensions; ++j) difference[j] = a[j] - b[j];
    return difference;
  }
  bool is_zero() const { return *this == Vec{}; }
  std::int64_t norm() const;  // sum of |c_j|: hops on the torus (Träff 2016, §3.1)
};

struct VecHash {
  std::size_t operator()(const Vec& v) const;
};

class Grid {
 public:
  // sizes: extent of each dimension (>= 1); periodic: one flag per dimension. Throws
  // Errc::topology.
  Grid(std::span<const int> sizes, std::span<const bool> periodic);

  int dimensions() const { return dimensions_; }
  int size(int dimension) const { return sizes_[dimension]; }
  bool periodic(int dimension) const { return periodic_[dimension]; }
  bool fully_periodic() const { return fully_periodic_; }
  int ranks() const { return ranks_; }

  Vec coordinates(int rank) const;
  int rank(const Vec& inside) const;         // coordinates must be inside
  bool contains(const Vec& position) const;  // periodic dimensions contain everything
  Vec wrap(const Vec& position) const;       // into [0, size) along periodic dimensions
  // The rank at position, or -1 outside of a non-periodic dimension (MPI_PROC_NULL).
  int rank_at(const Vec& position) const;

  // The shortest offset to the same rank: along a periodic dimension of size p in (-p/2, p/2].
  Vec shortest(const Vec& offset) const;
  // Tells whether some rank has the neighbor: along a non-periodic dimension |c_j| < size.
  bool reachable(const Vec& offset) const;

 private:
  int dimensions_ = 0;
  int ranks_ = 1;
  bool fully_periodic_ = true;
  std::array<int, max_dimensions> sizes_{};
  std::array<int, max_dimensions> strides_{};
  std::array<bool, max_dimensions> periodic_{};
};

}  // namespace tonari
