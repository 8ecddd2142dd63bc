// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: what contests of earlier requests and runs have found, for all ranks of a context.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/comm/context.hpp"
#include "engine/comm/wisdom_file.hpp"

namespace tonari {

// `question` is what the choice depends on besides the machine. Only rank 0's counts. Collective at
// a context's first call.
std::string wisdom_key(Context& context, const std::string& question);

// Behind a question: what the starts of requests have answered. They compare few candidates, so
// `auto` does not use that.
inline constexpr const char* by_starts = "|online";

// Of bytes, by eighths of octaves: near an MPI's eager limit a few bytes decide.
int size_class(double bytes);

// Collective: returns what rank 0 finds for any of the keys, in their order. Rank 0 has first
// written what starts have decided meanwhile. With Trials::one, the first may have something that
// no request has tried; that one is noted as tried, so no other gets it.
enum class Trials : bool { none, one };
std::vector<Remembered> recall(Context& context, std::span<const std::string> keys,
                               Trials trials = Trials::none);

// Rank 0 writes.
void remember(Context& context, const std::string& key, const Remembered& remembered);

// Says why a winner is not remembered.
inline constexpr const char* unsteady_times =
    "the times varied much (is the machine busy with something else?), so this is not "
    "remembered\n";

}  // namespace tonari
