// Connects the channels of a candidate that are not MPI point to point.
#pragma once

#include <optional>
#include <string>

#include "channels/arguments.hpp"
#include "engine/context.hpp"
#include "engine/edge_queue.hpp"

namespace tonari {

struct Wiring {
  std::optional<Plan> plan;                          // of this rank, if connecting needed it
  Edges edges;                                       // empty: all messages go by MPI
  std::shared_ptr<const OwnedComm> graph = nullptr;  // of MPI's own collectives
  // Why the candidate's channel cannot be used; the same on all ranks. A plan's messages then go
  // packed by MPI.
  std::string refusal = {};
};

enum class Purpose { trial, request };

// Collective for candidates on a channel with edges (shared) and for MPI's own collectives, else
// local and empty. Throws the same error on all ranks.
Wiring wire(Context& context, const Candidate& candidate, const Settings& settings,
            const Binding& binding, Purpose purpose);

}  // namespace tonari
