#include "base/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace tonari {
namespace {

// The number of characters to add, drop or replace (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& name, std::span<const std::string> known) {
  const auto found = std::ranges::min_element(
      known, {}, [&](const std::string& other) { return distance(name, other); });
  if (found == known.end()) return "";
  const std::size_t own = name.size() - name.find('_') - 1;  // characters behind the prefix
  return distance(name, *found) <= std::max<std::size_t>(own / 4, 1) ? *found : "";
}

}  // namespace tonari
