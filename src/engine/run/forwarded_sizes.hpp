// SPDX-License-Identifier: BSD-3-Clause
// Finds out how long the blocks are that this rank forwards.
#pragma once

#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "select/candidates.hpp"

namespace tonari {

// Collective. Sets `forwarded` of every candidate whose plan has scratch blocks of sizes that the
// problem does not tell. The plan itself brings the sizes, as blocks of eight bytes. Candidates of
// one variant share the result.
void exchange_forwarded_sizes(Context& context, std::vector<Candidate>& candidates,
                              const Problem& problem, const Settings& settings,
                              const Binding& binding);

}  // namespace tonari
