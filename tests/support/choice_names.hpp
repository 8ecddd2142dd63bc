// SPDX-License-Identifier: BSD-3-Clause
// The names of all choices of channels that a table allows.
#pragma once

#include <string>
#include <vector>

#include "select/channel.hpp"

namespace tonari::test {

inline std::vector<std::string> choice_names(Channels table) {
  std::vector<std::string> names;
  for (const ChannelChoice& choice : all_choices(table)) names.push_back(choice.name());
  return names;
}

}  // namespace tonari::test
