// SPDX-License-Identifier: BSD-3-Clause
#include "topology/neighborhood.hpp"

#include "base/hash.hpp"

namespace tonari {

const char* name(Collective collective) {
  return collective == Collective::alltoall ? "alltoall" : "allgather";
}

std::uint64_t Neighborhood::fingerprint() const {
  Hash hash;
  hash.word(grid.dimensions());
  for (int j = 0; j < grid.dimensions(); ++j) hash.word(grid.size(j)).word(grid.periodic(j));
  hash.word(offsets.size());
  for (const Vec& offset : offsets) hash.word(VecHash{}(offset));
  return hash.value();
}

}  // namespace tonari
