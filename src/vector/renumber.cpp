// SPDX-License-Identifier: BSD-3-Clause
#include "vector/renumber.hpp"

#include <array>
#include <memory>
#include <utility>

#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "vector/find_needs.hpp"

namespace tonari {

Renumbering renumber(MPI_Comm comm, const VectorLists& lists, Output output) {
  require_intracommunicator(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  agree_on_arguments(
      shared->comm(), MPI_INFO_NULL, output, [&] { lists.check(shared->ranks()); },
      [] { return std::array<Alike, 0>{}; });
  Renumbering made;
  run_collectively(shared->comm(), [&] {
    const Context context(shared);
    FoundNeeds found = find_needs(context, shared->bsp(), lists);
    made = {found.own, std::move(found.needs.indices)};
  });
  return made;
}

}  // namespace tonari
