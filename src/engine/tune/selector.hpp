// SPDX-License-Identifier: BSD-3-Clause
// Chooses the exchange for one request: candidates apply, are scored and measured, and
// the winner is remembered.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "select/candidates.hpp"
#include "select/evidence.hpp"

namespace tonari {

struct Choice : Evidence {
  Candidate candidate = {};
  std::string details = {};  // lines for tonari_request_describe: what was compared
  bool steady = false;       // the measurement can be trusted, also next time
  // online: what the first starts try besides, the most promising first, and the key under which
  // the winner is remembered
  std::vector<Candidate> rivals = {};
  std::string question = {};
  std::vector<std::string> untried = {};  // what is remembered as left for later requests
};

// Collective. Everything except arguments must be the same on all ranks. Throws the same error on
// all ranks.
Choice choose(Context& context, const Problem& problem, const Settings& settings,
              const Arguments& arguments);

// What a neighborhood has chosen for kinds of problems, from wisdom or by the model: one-shot calls
// of a kind choose once, whatever their arguments. The same on all ranks.
class RememberedChoices {
 public:
  // Collective if the problem is new to the neighborhood.
  const Choice& of(Context& context, const Problem& problem, const Settings& settings);

 private:
  std::map<std::string, Choice> choices_;
};

// What the choice depends on besides the machine.
std::string problem_key(const Problem& problem, const Settings& settings);

}  // namespace tonari
