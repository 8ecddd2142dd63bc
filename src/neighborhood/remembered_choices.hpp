// SPDX-License-Identifier: BSD-3-Clause
// What a neighborhood has chosen for kinds of problems; one-shot calls of a kind choose once.
#pragma once

#include <map>
#include <string>

#include "engine/tune/selector.hpp"

namespace tonari {

// The same on all ranks.
class RememberedChoices {
 public:
  // Collective if the problem is new to the neighborhood. Measures nothing.
  const Choice& of(Context& context, const Problem& problem, const Settings& settings);

 private:
  std::map<std::string, Choice> choices_;
};

}  // namespace tonari
