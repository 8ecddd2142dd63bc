// SPDX-License-Identifier: BSD-3-Clause
// Makes the plan of a candidate, and connects its channels that carry single messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "channels/connect.hpp"
#include "engine/comm/context.hpp"
#include "engine/run/edge_queue.hpp"
#include "select/candidates.hpp"

namespace tonari {

struct Wiring {
  std::optional<Plan> plan = {};                     // that the candidate runs on this rank
  Binding binding = {};                              // completed by the sizes that the plan takes
  Edges edges = {};                                  // empty if all messages go by MPI
  std::shared_ptr<const OwnedComm> graph = nullptr;  // of MPI's own collectives
  // Why the candidate's channel cannot be used; the same on all ranks. Then the messages of a plan
  // go packed by MPI.
  std::string refusal = {};
};

enum class Purpose { trial, race, request };

// All ranks of the context, in the form that channels use. It refers to the context.
ConnectComm connect_comm(Context& context);

// Collective for candidates on channels with edges and for MPI's own collectives, which have no
// plan; else local. Several are connected together: ranks meet for each channel, not for each
// candidate. Throws the same error on all ranks.
std::vector<Wiring> wire(Context& context, std::span<const Candidate> candidates,
                         const Settings& settings, const Binding& binding, Purpose purpose);
Wiring wire(Context& context, const Candidate& candidate, const Settings& settings,
            const Binding& binding, Purpose purpose);

}  // namespace tonari
