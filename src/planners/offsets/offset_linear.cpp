// SPDX-License-Identifier: BSD-3-Clause
// linear (Träff 2016, Listing 4): every block goes straight to its target; all blocks for one rank
// go in one message.
#include <algorithm>
#include <unordered_map>

#include "planners/offsets/offset_planner.hpp"

namespace tonari {
namespace {

std::string applicable(const Neighborhood&, Collective) { return ""; }

// combine: one step per distinct offset; else one per block, as a plain loop of Isend and Irecv
// would do. The blocks of an allgather are all the same, so there only distinct offsets matter.
Routing route(const Neighborhood& near, bool combine) {
  Routing routing(near);
  std::unordered_map<Vec, std::int32_t, VecHash> step_of;
  for (const Vec& offset : routable_offsets(near)) {
    if (!offset.is_zero()) {
      auto [entry, fresh] = step_of.try_emplace(offset, 0);
      if (fresh || !combine) entry->second = routing.add_step(offset);
      routing.hop(entry->second);
    }
    routing.end_path();
  }
  return routing;
}

std::vector<OffsetVariant> variants(std::shared_ptr<const Neighborhood> near,
                                    Collective collective) {
  std::vector<Vec> offsets = routable_offsets(*near);
  std::erase(offsets, Vec{});
  const std::size_t moving = offsets.size();
  std::sort(offsets.begin(), offsets.end());
  const std::size_t distinct = std::unique(offsets.begin(), offsets.end()) - offsets.begin();
  std::vector<OffsetVariant> all;
  all.emplace_back("linear", "", near, collective, distinct, moving,
                   [](const Neighborhood& n) { return route(n, true); });
  if (moving > distinct && collective == Collective::alltoall)
    all.emplace_back("linear", "a message per block", near, collective, moving, moving,
                     [](const Neighborhood& n) { return route(n, false); });
  return all;
}

}  // namespace

const OffsetPlanner offset_linear{"linear", applicable, variants};

}  // namespace tonari
