// SPDX-License-Identifier: BSD-3-Clause
#include "topology/neighborhood.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"

namespace tonari {

const char* name(Collective collective) {
  return collective == Collective::alltoall ? "alltoall" : "allgather";
}

// Each pair of coordinates has a hash of its own, so that they proceed side by side.
std::uint64_t Neighborhood::fingerprint() const {
  Hash hash;
  hash.word(grid.dimensions());
  for (int j = 0; j < grid.dimensions(); ++j) hash.word(grid.size(j)).word(grid.periodic(j));
  hash.word(offsets.size());
  std::array<Hash, max_dimensions / 2> pairs;
  const int used = (grid.dimensions() + 1) / 2;
  for (const Vec& offset : offsets)
    for (int k = 0; k < used; ++k)
      pairs[k].word(static_cast<std::uint32_t>(offset[2 * k]) |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(offset[2 * k + 1]))
                        << 32);
  for (const Hash& pair : pairs) hash.word(pair.value());
  return hash.value();
}

namespace {

// What each coordinate of an offset adds to a rank along one dimension. Coordinates beyond the grid
// add so much less than 0 that the sum over all dimensions stays below 0.
class Steps {
 public:
  static constexpr std::int64_t outside = -(std::int64_t{1} << 40);

  // For offsets from `least` to `most`, from the rank's coordinate `here` along dimension j.
  void add(const Grid& grid, int j, int here, std::int64_t stride, int least, int most) {
    least_[j] = least;
    first_[j] = table_.size();
    for (std::int64_t c = least; c <= most; ++c) table_.push_back(step(grid, j, here + c, stride));
  }
  std::int32_t rank(const Vec& offset, int dimensions) const {
    std::int64_t rank = 0;
    for (int j = 0; j < dimensions; ++j)
      rank += table_[first_[j] + static_cast<std::size_t>(offset[j] - least_[j])];
    return rank < 0 ? -1 : static_cast<std::int32_t>(rank);
  }

 private:
  static std::int64_t step(const Grid& grid, int j, std::int64_t at, std::int64_t stride) {
    const std::int64_t size = grid.size(j);
    if (at >= 0 && at < size) return at * stride;
    return grid.periodic(j) ? (at % size + size) % size * stride : outside;
  }

  std::vector<std::int64_t> table_;
  std::array<std::size_t, max_dimensions> first_{};
  std::array<int, max_dimensions> least_{};
};

struct Reach {
  int least = 0, most = 0;
};
using Reaches = std::array<Reach, max_dimensions>;

Reaches ranges_of(const std::vector<Vec>& offsets) {
  Reaches ranges;
  for (const Vec& offset : offsets)
    for (int j = 0; j < max_dimensions; ++j) {
      ranges[j].least = std::min(ranges[j].least, offset[j]);
      ranges[j].most = std::max(ranges[j].most, offset[j]);
    }
  return ranges;
}

// Tells whether tables of all coordinates are not much longer than the list.
bool near_each_other(const Reaches& ranges, std::size_t offsets) {
  std::int64_t all = 0;
  for (const Reach& range : ranges) all += std::int64_t{range.most} - range.least;
  return all <= 64 + 2 * static_cast<std::int64_t>(offsets);
}

NeighborRanks one_by_one(const Neighborhood& near, int rank) {
  NeighborRanks ranks;
  for (std::size_t i = 0; i < near.offsets.size(); ++i) {
    ranks.targets.push_back(near.target(rank, i));
    ranks.sources.push_back(near.source(rank, i));
  }
  return ranks;
}

}  // namespace

NeighborRanks neighbor_ranks(const Neighborhood& near, int rank) {
  const Reaches ranges = ranges_of(near.offsets);
  if (!near_each_other(ranges, near.offsets.size())) return one_by_one(near, rank);
  const int d = near.grid.dimensions();
  const Vec here = near.grid.coordinates(rank);
  Steps forth, back;
  std::int64_t stride = 1;
  for (int j = d - 1; j >= 0; stride *= near.grid.size(j--)) {
    forth.add(near.grid, j, here[j], stride, ranges[j].least, ranges[j].most);
    back.add(near.grid, j, here[j], stride, -ranges[j].most, -ranges[j].least);
  }
  const std::size_t s = near.offsets.size();
  NeighborRanks ranks{std::vector<std::int32_t>(s), std::vector<std::int32_t>(s)};
  for (std::size_t i = 0; i < s; ++i) {
    ranks.targets[i] = forth.rank(near.offsets[i], d);
    ranks.sources[i] = back.rank(Vec{} - near.offsets[i], d);
  }
  return ranks;
}

}  // namespace tonari
