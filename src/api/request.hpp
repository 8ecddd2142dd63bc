// Prepares exchanges for calls.
#pragma once

#include "api/call.hpp"
#include "api/handles.hpp"

namespace tonari {

enum class Use { persistent, once };

// Collective. has_place: whether the program gave a place for the request; here, where all ranks
// learn of it. For use once it may be one that an earlier call prepared, and nothing is measured.
// On a neighborhood with promises a call that breaks one is an error (Errc::promise) on all ranks.
std::shared_ptr<Prepared> prepare(tonari_neighborhood near, const Call& call, Use use,
                                  MPI_Info info, bool has_place);

// A handle of it for the program. Needs no memory: what was prepared comes with one.
tonari_request request_of(std::shared_ptr<Prepared> prepared);

// Collective where the neighborhood has not seen such a problem yet. Measures nothing.
const Choice& remembered_choice(tonari_neighborhood near, const Problem& problem,
                                const Settings& settings);

}  // namespace tonari
