// SPDX-License-Identifier: BSD-3-Clause
// Random neighborhoods for property tests, the same in every run.
#pragma once

#include <memory>
#include <random>
#include <sstream>

#include "analysis/expected_delivery.hpp"
#include "planners/registry.hpp"

namespace tonari::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool once_in(int n) { return between(1, n) == 1; }

 private:
  // its numbers are fixed by the standard, those of the distributions are not
  std::mt19937_64 engine_;
};

inline std::string describe(const Neighborhood& near) {
  std::ostringstream out;
  for (int j = 0; j < near.grid.dimensions(); ++j)
    out << (j ? "x" : "") << near.grid.size(j) << (near.grid.periodic(j) ? "" : "m");
  for (const Vec& offset : near.offsets) {
    out << " (";
    for (int j = 0; j < near.grid.dimensions(); ++j) out << (j ? "," : "") << offset[j];
    out << ')';
  }
  return out.str();
}

// Any mix of periodic and other dimensions with at most `most_ranks` ranks.
inline Grid random_grid(Random& random, int dimensions, int most_ranks) {
  std::array<int, max_dimensions> sizes{};
  std::array<bool, max_dimensions> periodic{};
  const int kind = random.between(0, 3);  // torus, mesh, any mix twice as often
  int ranks = 1;
  for (int j = 0; j < dimensions; ++j) {
    const int size = random.between(1, random.once_in(4) ? 7 : 3);
    sizes[j] = ranks * size <= most_ranks ? size : 1;
    ranks *= sizes[j];
    periodic[j] = kind == 0 || (kind >= 2 && random.once_in(2));
  }
  return Grid(std::span<const int>(sizes).first(dimensions),
              std::span<const bool>(periodic).first(dimensions));
}

// With duplicates, zero vectors and offsets longer than the grid.
inline std::vector<Vec> random_offsets(Random& random, const Grid& grid, int most) {
  std::vector<Vec> offsets;
  const int count = random.between(0, most), reach = random.between(1, random.once_in(5) ? 9 : 3);
  while (static_cast<int>(offsets.size()) < count) {
    Vec offset;
    for (int j = 0; j < grid.dimensions(); ++j)
      offset[j] = random.once_in(3) ? 0 : random.between(-reach, reach);
    if (random.once_in(10)) offset = Vec{};
    offsets.push_back(offset);
    if (random.once_in(6))
      offsets.push_back(offsets[random.between(0, static_cast<int>(offsets.size()) - 1)]);
  }
  return offsets;
}

inline std::vector<std::uint64_t> random_bytes(Random& random, std::size_t blocks) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = 0; i < blocks; ++i)
    bytes.push_back(random.once_in(4) ? 0 : random.between(1, 9));
  return bytes;
}

inline std::vector<Plan> plans_of_all_ranks(const OffsetVariant& schedule,
                                            EmitOptions options = {}) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < schedule.near().grid.ranks(); ++rank)
    plans.push_back(schedule.plan(rank, options));
  return plans;
}

// Calls f(schedule) for every variant of every algorithm that can be used.
template <class F>
void for_each_schedule(const std::shared_ptr<const Neighborhood>& near, Collective collective,
                       F f) {
  for (const AlgorithmRow& row : algorithms())
    if (row.offsets && row.offsets->applicable(*near, collective).empty())
      for (const OffsetVariant& schedule : row.offsets->variants(near, collective)) f(schedule);
}

inline OffsetVariant first_schedule(const std::string& algorithm, const Neighborhood& near,
                                    Collective collective) {
  return find_offset_planner(algorithm)
      .variants(std::make_shared<const Neighborhood>(near), collective)
      .front();
}

}  // namespace tonari::test
