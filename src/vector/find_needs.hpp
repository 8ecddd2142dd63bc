// SPDX-License-Identifier: BSD-3-Clause
// Which values this rank owns and needs, once ranks have told each other what they own.
#pragma once

#include "engine/comm/context.hpp"
#include "vector/lists.hpp"

namespace tonari {

struct FoundNeeds {
  OwnedRange own;
  OwnedRanges ranges;  // all ranks know what is wrong
  ListedNeeds needs = {};
};

// Collective, together on the communicator.
FoundNeeds find_needs(const Context& context, BspComm& bsp, const VectorLists& lists);

}  // namespace tonari
