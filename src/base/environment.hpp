// SPDX-License-Identifier: BSD-3-Clause
// Whether any variable of the library is set: one look at the environment instead of one for each
// row of base/setting_table.hpp.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/setting_table.hpp"

namespace tonari {

inline constexpr std::string_view variable_prefix = "TONARI_";
static_assert(std::ranges::all_of(setting_table, [](const Setting& row) {
  return !*row.variable || std::string_view(row.variable).starts_with(variable_prefix);
}));

inline bool any_in_environment() {
  for (char** entry = environ; entry && *entry; ++entry)
    if (std::string_view(*entry).starts_with(variable_prefix)) return true;
  return false;
}

}  // namespace tonari
