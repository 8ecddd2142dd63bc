// SPDX-License-Identifier: BSD-3-Clause
// Builds what the starts of a request choose from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/online_exchange.hpp"
#include "engine/selector.hpp"

namespace tonari {

struct Contenders {
  std::unique_ptr<OnlineExchange> exchange;  // null: only one is left
  std::vector<Candidate> candidates;         // in its order
  std::size_t tags = 0;                      // that it takes from the context's first one on
  std::string refusal = {};                  // why a candidate dropped out
};

// Collective: connects and builds the candidate of a choice with all its rivals. Those whose
// channel cannot be used drop out. Throws the same error on all ranks.
Contenders build_contenders(Context& context, const Choice& choice, const Problem& problem,
                            const Settings& settings, const Arguments& arguments,
                            const Binding& binding);

}  // namespace tonari
