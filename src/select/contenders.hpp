// SPDX-License-Identifier: BSD-3-Clause
// Which candidates a race on a program's own exchanges begins with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "select/candidates.hpp"
#include "select/race.hpp"

namespace tonari {

// The best predicted candidates that fit into memory together, while they are measured.
std::vector<Candidate> affordable(std::span<const Candidate> candidates);

struct Contenders {
  std::vector<Candidate> now;  // the first has the best prediction
  // Labels for later requests of the same kind, which try one each: the best candidate of each way
  // that is expensive to connect, if none of these contenders goes that way.
  std::vector<std::string> later;
};

// At most so many of `candidates`, which come best prediction first. MPI's own collective takes no
// part: it would have to prove its blocks first, on copies (decision 21). A later request does
// that, as it tries other ways that are expensive (decision 53).
Contenders contenders_of(std::span<const Candidate> candidates,
                         std::size_t most = Race::most_candidates);

}  // namespace tonari
