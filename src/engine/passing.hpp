// How long the blocks are that pass through this rank.
#pragma once

#include <vector>

#include "engine/selector.hpp"

namespace tonari {

// Collective. Sets `passing` of every candidate whose plan has scratch blocks of a size that the
// problem does not tell: the plan itself brings the sizes, as blocks of eight bytes. Candidates of
// one variant share what was learned.
void learn_passing(Context& context, std::vector<Candidate>& candidates, const Problem& problem,
                   const Settings& settings, const Binding& binding);

// The plan that a candidate runs on this rank.
Plan plan_of(const Candidate& candidate, const Settings& settings, int rank);

}  // namespace tonari
