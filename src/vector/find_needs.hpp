// SPDX-License-Identifier: BSD-3-Clause
// Which values this rank owns and needs, once ranks have told each other what they own.
#pragma once

#include "engine/comm/context.hpp"
#include "request/agree_on_arguments.hpp"
#include "vector/lists.hpp"

namespace tonari {

struct FoundNeeds {
  OwnedRange own;
  OwnedRanges ranges;  // all ranks know what is wrong
  ListedNeeds needs = {};
};

// Collective, together on the communicator.
FoundNeeds find_needs(const Context& context, BspComm& bsp, const VectorLists& lists);

// What values are called once they have consecutive indices: own ones have the range `own`, in the
// order of their list, and needed ones have `needed`.
struct Renumbering {
  OwnedRange own{0, 0};
  std::vector<std::int64_t> needed;
};
// Collective: what tonari_vector_renumber says.
Renumbering renumber(MPI_Comm comm, const VectorLists& lists, Output output);

}  // namespace tonari
