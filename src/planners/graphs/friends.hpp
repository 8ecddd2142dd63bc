// SPDX-License-Identifier: BSD-3-Clause
// With whom a rank shares many targets, found without anybody knowing the whole pattern: a target
// knows all that send to it, and names some of them to each other. How often a rank hears a name is
// how many targets the two have in common, as far as targets that have many senders name them all;
// these name a sample, of which each counts for more.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

using Ranks = std::vector<std::int32_t>;

// `targets` has those of each rank here, without itself, ascending. This returns for each the ranks
// with which it shares the most, best first; of equal ones those that send to fewer. Messages and
// memory of a rank grow with its own messages, in and out. The call is collective.
std::vector<Ranks> find_friends(BspComm& bsp, const std::vector<Ranks>& targets,
                                std::size_t most_friends);

}  // namespace tonari
