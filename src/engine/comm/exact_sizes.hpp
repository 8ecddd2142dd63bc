// SPDX-License-Identifier: BSD-3-Clause
// Sizes that the program promised when it made the neighborhood (cdag_exact_byte_communications).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "planners/graphs/mirror.hpp"
#include "select/price.hpp"

namespace tonari {

struct ExactSizes {
  BlockSizes edges;  // of this rank, in the order of LocalTopology::vertex
  // Per collective; all ranks know the same.
  struct Known {
    bool possible = false;  // an allgather needs one size on all edges that leave a rank
    Sizes sizes;
    // The results of exchange_forwarded_sizes, by algorithm, variant and ports.
    std::map<std::tuple<std::string, std::string, int>, std::shared_ptr<const std::vector<Bytes>>>
        forwarded;
  };
  std::array<Known, 2> known;
  Known& of(Collective collective) { return known[static_cast<std::size_t>(collective)]; }
};

}  // namespace tonari
