// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace tonari {
namespace {

// The number of characters to add, drop, replace or swap with the next one (Damerau 1964, with at
// most one swap at each place).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  std::vector<std::size_t> before = last, row = last;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

}  // namespace

std::string nearest_name(const std::string& name, std::span<const std::string> known) {
  const auto found = std::ranges::min_element(
      known, {}, [&](const std::string& other) { return distance(name, other); });
  if (found == known.end()) return "";
  const std::size_t own = name.size() - name.find('_') - 1;  // characters behind the prefix
  return distance(name, *found) <= std::max<std::size_t>(own / 4, 1) ? *found : "";
}

std::string did_you_mean(const std::string& name, std::span<const std::string> known) {
  const std::string meant = nearest_name(name, known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace tonari
