// SPDX-License-Identifier: BSD-3-Clause
// Which candidates a race on a program's own exchanges begins with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "select/candidates.hpp"
#include "select/race.hpp"

namespace tonari {

// At most so many of `candidates`, which come best prediction first and are not empty. The first of
// them is the first here, too.
std::vector<Candidate> contenders_of(std::span<const Candidate> candidates,
                                     std::size_t most = Race::most_candidates);

// The labels of what is left for later requests of the same kind, which try one each: the best
// candidate of each way that is expensive to connect, if none of these contenders goes that way.
std::vector<std::string> left_for_later(std::span<const Candidate> candidates,
                                        std::span<const Candidate> contenders);

}  // namespace tonari
