// SPDX-License-Identifier: BSD-3-Clause
#include "select/machine_words.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tonari {

std::vector<std::string> machine_words(const std::string& text) {
  std::vector<std::string> found;
  bool inside = false, comment = false;
  for (char c : text) {
    comment = c == '#' || (comment && c != '\n');
    const bool separator = comment || std::strchr(" \t\r\n=", c) != nullptr;  // also NUL
    if (!separator && !inside) found.emplace_back();
    if (!separator) found.back() += c;
    inside = !separator;
  }
  return found;
}

std::string in_quotes(std::string_view word) {
  std::string shown(word.substr(0, 40));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return "'" + shown + (word.size() > 40 ? "...'" : "'");
}

bool is_of_simulations(std::string_view name) {
  constexpr std::string_view names[] = {"self_latency",  "self_overhead",  "ranks_per_node",
                                        "ranks_per_nic", "network",        "hop",
                                        "noise_period",  "noise_duration", "cores"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace tonari
