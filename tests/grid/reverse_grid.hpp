// SPDX-License-Identifier: BSD-3-Clause
// A grid whose ghosts are combined at their owners. Each rank computes alone what must come out,
// ghost by ghost, from what all ranks have.
#pragma once

#include <complex>
#include <cstring>
#include <map>

#include "grid/chosen_ghosts.hpp"

namespace tonari::test {

// A number of a cell, own or ghost, of any rank. Sums of fractions show in which order they were
// added.
template <class T>
T number(std::uint64_t seed) {
  const auto bits = static_cast<std::int32_t>(mix(seed) >> 40);
  if constexpr (sizeof(T) == 1)
    return static_cast<T>(bits % 3);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits % 1000 - 500);
  else
    return static_cast<T>(bits % 100'000 - 50'000) / T(3);
}
template <>
inline std::complex<double> number(std::uint64_t seed) {
  return {number<double>(seed), number<double>(seed + 1)};
}

template <class T>
T combine(MPI_Op op, T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == MPI_MIN) return std::min(a, b);
    if (op == MPI_MAX) return std::max(a, b);
  }
  return static_cast<T>(a + b);
}

template <class T>
class Reverse {
 public:
  Reverse(const Geometry& geometry, int storage, int components)
      : t(geometry, storage), components_(components) {}

  static T value(int rank, int s, int field, const Index& x, int component, int round) {
    std::uint64_t seed = static_cast<std::uint64_t>(rank * 64 + s) * 1000 +
                         static_cast<std::uint64_t>(field * 100 + round);
    for (const std::int64_t at : x) seed = mix(seed) + static_cast<std::uint64_t>(at);
    return number<T>(seed + 7 * static_cast<std::uint64_t>(component));
  }

  void fill(int copy, int round) const {
    t.for_fields([&](int s, int f) {
      std::vector<T> all;
      const tonari_box whole = t.g.whole(world_rank(), s);
      for_cells(whole, t.g.dims, [&](const Index& x) {
        for (int c = 0; c < components_; ++c) all.push_back(value(world_rank(), s, f, x, c, round));
      });
      must(tonari_grid_import(t.grid, s, copy, f, &whole, all.data()));
    });
  }

  // Ghosts as they were; own cells combined, subdomain after subdomain of the whole grid.
  void expect(const ChosenGhosts& chosen, MPI_Op op, int copy, int round) const {
    t.for_fields([&](int s, int f) {
      std::vector<T> want;
      std::map<Index, std::size_t> place;  // of own cells, by where they are in the whole grid
      const Index first = t.g.first(world_rank(), s), own = t.g.own(world_rank(), s);
      for_cells(t.g.whole(world_rank(), s), t.g.dims, [&](const Index& x) {
        if (is_own(x, own)) place[global(first, x, false)] = want.size();
        for (int c = 0; c < components_; ++c)
          want.push_back(value(world_rank(), s, f, x, c, round));
      });
      for (const Ghost& ghost : all_ghosts(chosen)) {
        const auto mine = place.find(ghost.owner);
        if (mine == place.end()) continue;
        for (int c = 0; c < components_; ++c) {
          T& cell = want[mine->second + static_cast<std::size_t>(c)];
          cell = combine(op, cell, value(ghost.rank, ghost.subdomain, f, ghost.x, c, round));
        }
      }
      std::vector<T> got(want.size());
      const tonari_box whole = t.g.whole(world_rank(), s);
      must(tonari_grid_export(t.grid, s, copy, f, &whole, got.data()));
      EXPECT_TRUE(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0)
          << "subdomain " << s << ", field " << f << ": " << first_difference(got, want) << "; "
          << chosen.text(t.g);
    });
  }

  TestGrid t;

 private:
  static std::string first_difference(const std::vector<T>& got, const std::vector<T>& want) {
    const auto differs = std::mismatch(got.begin(), got.end(), want.begin());
    return "value " + std::to_string(differs.first - got.begin()) + " of " +
           std::to_string(got.size());
  }
  bool is_own(const Index& x, const Index& own) const {
    for (int k = 0; k < t.g.dims; ++k)
      if (x[k] < 0 || x[k] >= own[k]) return false;
    return true;
  }
  // Where a cell is in the whole grid; outside of it beyond an open border.
  Index global(const Index& first, const Index& x, bool wrap = true) const {
    Index at{};
    for (int k = 0; k < t.g.dims; ++k) {
      at[k] = first[k] + x[k];
      if (wrap && t.g.periodic[k]) at[k] = (at[k] + t.g.total(k)) % t.g.total(k);
    }
    return at;
  }
  struct Ghost {
    int direction;  // from its subdomain
    int rank, subdomain;
    Index x, owner;  // where it is in its subdomain, and in the whole grid
  };
  // Of all ranks. Owners combine those of neighbors on their lower side first; seen from there, the
  // owner is on the upper side.
  std::vector<Ghost> all_ghosts(const ChosenGhosts& chosen) const {
    std::vector<Ghost> all;
    for (int rank = 0; rank < world_size(); ++rank)
      for (int s = 0; s < t.g.subdomains(); ++s) {
        const Index first = t.g.first(rank, s), own = t.g.own(rank, s);
        for_cells(t.g.whole(rank, s), t.g.dims, [&](const Index& x) {
          if (is_own(x, own) || !chosen.has(t.g, own, x)) return;
          int direction = 0;
          for (int k = 0; k < t.g.dims; ++k)
            direction = direction * 3 + (x[k] < 0 ? 0 : x[k] >= own[k] ? 2 : 1);
          all.push_back({direction, rank, s, x, global(first, x)});
        });
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const Ghost& a, const Ghost& b) { return a.direction > b.direction; });
    return all;
  }

  int components_;
};

}  // namespace tonari::test
