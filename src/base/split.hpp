// SPDX-License-Identifier: BSD-3-Clause
// Splits lists that stand in one line of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tonari {

// Returns at least one part, and keeps empty ones, also at the end.
inline std::vector<std::string> split(std::string_view list, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at; (at = list.find(separator)) != list.npos;
       list.remove_prefix(at + separator.size()))
    parts.emplace_back(list.substr(0, at));
  parts.emplace_back(list);
  return parts;
}

}  // namespace tonari
