// SPDX-License-Identifier: BSD-3-Clause
#include "topology/grid.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/checked.hpp"
#include "base/hash.hpp"

namespace tonari {

Vec::Vec(std::initializer_list<int> values) : Vec() {
  if (values.size() > max_dimensions)
    fail(Errc::topology, "a vector has at most ", max_dimensions, " coordinates");
  std::copy(values.begin(), values.end(), begin());
}

std::int64_t Vec::norm() const {
  std::int64_t hops = 0;
  for (std::int64_t c : *this) hops += std::abs(c);
  return hops;
}

std::size_t VecHash::operator()(const Vec& v) const {
  Hash hash;
  for (int j = 0; j < max_dimensions; j += 2)
    hash.word(static_cast<std::uint32_t>(v[j]) |
              static_cast<std::uint64_t>(static_cast<std::uint32_t>(v[j + 1])) << 32);
  return hash.value();
}

Grid::Grid(std::span<const int> sizes, std::span<const bool> periodic) {
  if (sizes.size() != periodic.size() || sizes.empty() || sizes.size() > max_dimensions)
    fail(Errc::topology, "a grid has 1 to ", max_dimensions,
         " dimensions with a size and a periodicity each; got ", sizes.size(), " sizes and ",
         periodic.size(), " periodicities");
  dimensions_ = static_cast<int>(sizes.size());
  for (int j = dimensions_ - 1; j >= 0; --j) {
    if (sizes[j] < 1)
      fail(Errc::topology, "dimension ", j, " of the grid has size ", sizes[j],
           "; it must be at least 1");
    sizes_[j] = sizes[j];
    strides_[j] = ranks_;
    periodic_[j] = periodic[j];
    fully_periodic_ = fully_periodic_ && periodic[j];
    ranks_ = checked_multiply(ranks_, sizes[j], "number of ranks in the grid");
  }
}

Vec Grid::coordinates(int rank) const {
  Vec position;
  for (int j = 0; j < dimensions_; ++j) position[j] = rank / strides_[j] % sizes_[j];
  return position;
}

int Grid::rank(const Vec& inside) const {
  int rank = 0;
  for (int j = 0; j < dimensions_; ++j) rank += inside[j] * strides_[j];
  return rank;
}

bool Grid::contains(const Vec& position) const {
  for (int j = 0; j < dimensions_; ++j)
    if (!periodic_[j] && (position[j] < 0 || position[j] >= sizes_[j])) return false;
  return true;
}

Vec Grid::wrap(const Vec& position) const {
  Vec inside = position;
  for (int j = 0; j < dimensions_; ++j)
    if (periodic_[j]) inside[j] = ((position[j] % sizes_[j]) + sizes_[j]) % sizes_[j];
  return inside;
}

int Grid::rank_at(const Vec& position) const {
  return contains(position) ? rank(wrap(position)) : -1;
}

Vec Grid::shortest(const Vec& offset) const {
  Vec result = wrap(offset);
  for (int j = 0; j < dimensions_; ++j)
    if (periodic_[j] && result[j] > sizes_[j] / 2) result[j] -= sizes_[j];
  return result;
}

bool Grid::reachable(const Vec& offset) const {
  for (int j = 0; j < dimensions_; ++j)
    if (!periodic_[j] && std::abs(static_cast<std::int64_t>(offset[j])) >= sizes_[j]) return false;
  return true;
}

}  // namespace tonari
