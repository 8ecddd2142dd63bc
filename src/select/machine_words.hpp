// SPDX-License-Identifier: BSD-3-Clause
// The words of a machine file, which two readers share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tonari {

// "name = value # comment" -> {"name", "value"}: '=' separates like a blank.
std::vector<std::string> machine_words(const std::string& text);

// A word as a sentence may quote it.
std::string in_quotes(std::string_view word);

// What only simulations of many ranks read (src/simulate/cluster.hpp); others pass over it.
bool is_of_simulations(std::string_view name);

}  // namespace tonari
