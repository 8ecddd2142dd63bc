// SPDX-License-Identifier: BSD-3-Clause
#include "topology/packed_offsets.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "topology/coordinate_loops.hpp"

namespace tonari {
namespace {

void check_range(std::span<const int> coordinates) {
  for (int c : coordinates)
    if (c > PackedOffsets::most || c < -PackedOffsets::most)
      fail(Errc::overflow, "the offset ", c, " is out of range; offsets go up to 1,000,000,000");
}

template <class Number>
std::vector<Vec> unpacked(const Number* from, std::size_t count, int dimensions) {
  std::vector<Vec> list(count);
  for (Vec& offset : list) {
    std::copy_n(from, dimensions, offset.begin());
    from += dimensions;
  }
  return list;
}

}  // namespace

PackedOffsets::PackedOffsets(std::span<const int> coordinates, int dimensions)
    : count_(coordinates.size() / static_cast<std::size_t>(dimensions)),
      dimensions_(dimensions),
      bytes_(new std::int8_t[coordinates.size()]) {
  if (coordinate_loops().narrow(coordinates.data(), coordinates.size(), bytes_.get())) return;
  bytes_.reset();
  check_range(coordinates);
  words_.reset(new std::int32_t[coordinates.size()]);
  std::ranges::copy(coordinates, words_.get());
}

std::vector<Vec> PackedOffsets::list() const {
  return words_ ? unpacked(words_.get(), count_, dimensions_)
                : unpacked(bytes_.get(), count_, dimensions_);
}

std::uint64_t PackedOffsets::fingerprint() const {
  const std::string_view bytes =
      words_ ? std::string_view(reinterpret_cast<const char*>(words_.get()),
                                coordinates() * sizeof(std::int32_t))
             : std::string_view(reinterpret_cast<const char*>(bytes_.get()), coordinates());
  Hash hash;
  hash.word(static_cast<std::uint64_t>(dimensions_)).word(count_);
  return hash.word(coordinate_loops().hash(bytes)).value();
}

std::uint64_t PackedNeighborhood::fingerprint() const {
  Hash hash;
  hash.word(grid.dimensions());
  for (int j = 0; j < grid.dimensions(); ++j) hash.word(grid.size(j)).word(grid.periodic(j));
  return hash.word(offsets.fingerprint()).value();
}

}  // namespace tonari
