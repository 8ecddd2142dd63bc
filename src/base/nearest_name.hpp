// SPDX-License-Identifier: BSD-3-Clause
// Finds the known name that a misspelled one may have meant.
#pragma once

#include <span>
#include <string>

namespace tonari {

// Empty if no name is near. A prefix up to the first underscore does not count as part of a name.
std::string nearest_name(const std::string& name, std::span<const std::string> known);

// The end of a sentence that refuses the name: "; did you mean torus?". Empty if no name is near.
std::string did_you_mean(const std::string& name, std::span<const std::string> known);

}  // namespace tonari
