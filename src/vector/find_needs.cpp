// SPDX-License-Identifier: BSD-3-Clause
#include "vector/find_needs.hpp"

#include <vector>

#include "base/checked.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/collective.hpp"

namespace tonari {
namespace {

// Collective, in the context's scope: the range of each rank.
std::vector<OwnedRange> gather_ranges(const Context& context, const VectorLists& lists) {
  const OwnedRange own = lists.own_range().value_or(OwnedRange{0, lists.owned()});
  std::vector<OwnedRange> all(static_cast<std::size_t>(context.ranks()));
  stay_together(context.comm());
  gather_all(&own, 2, MPI_INT64_T, all.data(), context.comm());
  if (lists.own_range()) return all;
  for (std::size_t r = 1; r < all.size(); ++r)
    all[r].first = checked_add(all[r - 1].first, all[r - 1].count, "values of all ranks");
  return all;
}

}  // namespace

FoundNeeds find_needs(const Context& context, BspComm& bsp, const VectorLists& lists) {
  const std::vector<OwnedRange> by_rank = gather_ranges(context, lists);
  FoundNeeds found{by_rank[static_cast<std::size_t>(context.rank())], OwnedRanges(by_rank)};
  bsp.run_collectively([&] { found.needs = lists.needs(bsp, found.ranges, found.own); });
  return found;
}

Renumbering renumber(MPI_Comm comm, const VectorLists& lists, Output output) {
  require_intracommunicator(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  agree_on_arguments(shared->comm(), MPI_INFO_NULL,
                     wrong_argument(output, [&] { lists.check(shared->ranks()); }), {});
  Renumbering made;
  run_collectively(shared->comm(), [&] {
    const Context context(shared);
    FoundNeeds found = find_needs(context, shared->bsp(), lists);
    made = {found.own, std::move(found.needs.indices)};
  });
  return made;
}

}  // namespace tonari
