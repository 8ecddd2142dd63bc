// Connects the channels of a candidate that are not MPI point to point.
#pragma once

#include <optional>
#include <string>

#include "channels/arguments.hpp"
#include "engine/context.hpp"
#include "engine/edge_queue.hpp"

namespace tonari {

struct Wiring {
  std::optional<Plan> plan;  // of this rank, if connecting needed it
  Edges edges;               // empty: all messages go by MPI
  std::string refusal;       // why the candidate's channel cannot be used; the same on all ranks. Its messages then go packed by MPI
};

// Collective for candidates on a channel with edges (shared), else local and empty. Throws the same error on all ranks.
Wiring wire(Context& context, const Candidate& candidate, const Settings& settings, const Binding& binding);

}  // namespace tonari
