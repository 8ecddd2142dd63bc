// SPDX-License-Identifier: BSD-3-Clause
// Median and quartiles. Nothing is compared by its mean: one time slice lost to another program
// would spoil it.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bench {

struct Spread {
  double median = 0, q1 = 0, q3 = 0, p90 = 0, least = 0, most = 0, mean = 0;
  // Medians of every other value, the first and the second one first: who is the best of many by
  // one half is compared by the other, where luck does not flatter it.
  double odd = 0, even = 0;
};

// Linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996); values not
// empty.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

// Of the values at first, first + 2, and so on; of all if there are none.
inline double median_of_half(const std::vector<double>& values, std::size_t first) {
  std::vector<double> half;
  for (std::size_t k = first; k < values.size(); k += 2) half.push_back(values[k]);
  if (half.empty()) half = values;
  std::sort(half.begin(), half.end());
  return quantile(half, 0.5);
}

inline Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  const double odd = median_of_half(values, 0), even = median_of_half(values, 1);
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5),
          quantile(values, 0.25),
          quantile(values, 0.75),
          quantile(values, 0.9),
          values.front(),
          values.back(),
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          odd,
          even};
}

}  // namespace bench
