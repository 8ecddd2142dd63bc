// SPDX-License-Identifier: BSD-3-Clause
// A rectangular grid of cells cut into subdomains, one or more per rank of a Cartesian grid of
// ranks. Pure: every rank computes the boxes of all others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/grid_box.hpp"
#include "topology/grid.hpp"

namespace tonari {

using Cuts = std::vector<std::int64_t>;  // own cells of the subdomains along one dimension

// Cuts `cells` into `parts` parts that differ by one unit at most, the larger first. Throws
// Errc::argument if cells is no multiple of the unit, or there are fewer units than parts. The
// sentence names `dimension`.
Cuts cut_evenly(std::int64_t cells, std::int64_t unit, int parts, int dimension);

struct Decomposition {
  Grid ranks;                                     // as many dimensions as the cells have
  std::array<int, most_surface_dims> per_rank{};  // subdomains of a rank along each dimension
  // per dimension, ranks.size(k) * per_rank[k] of them
  std::array<Cuts, most_surface_dims> cuts{};
  Cells lower{}, upper{};

  int dims() const { return ranks.dimensions(); }
  int subdomains() const;  // of a rank
  Cells global() const;    // cells

  struct Where {
    int rank = 0;
    int subdomain = 0;        // of that rank, lexicographic
    std::int64_t number = 0;  // among all, lexicographic
    friend bool operator==(const Where&, const Where&) = default;
  };
  Where where(int rank, int subdomain) const;
  // Returns nothing beyond a border that is not periodic.
  std::optional<Where> neighbor(int rank, int subdomain, Region direction) const;
  GridBox box(int rank, int subdomain) const;
  Cells first(int rank, int subdomain) const;  // its first own cell in the whole grid

 private:
  Cells position(int rank, int subdomain) const;  // in the grid of subdomains
  Where at(const Cells& position) const;
};

}  // namespace tonari
