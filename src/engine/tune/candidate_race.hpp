// SPDX-License-Identifier: BSD-3-Clause
// Builds what the starts of a request choose from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/tune/online_exchange.hpp"
#include "engine/tune/selector.hpp"

namespace tonari {

struct CandidateRace {
  std::unique_ptr<OnlineExchange> exchange;  // null: only one is left
  std::vector<Candidate> candidates;         // in its order
  std::size_t tags = 0;                      // that it takes from the context's first one on
  std::string refusal = {};                  // why a candidate dropped out
};

// Collective: connects and builds the candidate of a choice with all its rivals. Those whose
// channel cannot be used drop out. Throws the same error on all ranks.
CandidateRace build_candidate_race(Context& context, const Choice& choice, const Problem& problem,
                                   const Settings& settings, const Arguments& arguments);

// Notes which of these labels has won, where a later init finds it under this key, with what is
// left untried. Rank 0 writes wisdom, and others get null.
OnlineExchange::Remember remember_by_starts(const Context& context, const std::string& question,
                                            std::vector<std::string> labels,
                                            std::vector<std::string> untried = {});

// Local. At least two; `sum_tag` belongs to it on all ranks.
std::unique_ptr<OnlineExchange> make_race(Context& context,
                                          std::vector<OnlineExchange::Contender> contenders,
                                          int sum_tag, double timeout,
                                          OnlineExchange::Remember remember);

}  // namespace tonari
