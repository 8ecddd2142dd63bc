// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace bench::inplace {

namespace {

using Weights = std::vector<std::vector<double>>;

// Not std::uniform_real_distribution, whose numbers differ from one library to another.
double uniform(std::mt19937& random) { return (random() + 0.5) / 4294967296.0; }

// d <- sqrt(d / (A d)), which converges to d_i (A d)_i = 1 for positive symmetric A (Knight and
// Ruiz 2013).
std::vector<double> balance(const Weights& a) {
  std::vector<double> d(a.size(), 1);
  for (int step = 0; step < 100; ++step) {
    std::vector<double> next(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      next[i] = std::sqrt(d[i] / std::inner_product(d.begin(), d.end(), a[i].begin(), 0.0));
    d = next;
  }
  return d;
}

// Rounding down keeps what goes to others within the total; the rank's own block takes the rest.
Sizes round_to(const Weights& parts, long long total) {
  Sizes sizes(parts.size(), std::vector<long long>(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    long long others = 0;
    for (std::size_t j = 0; j < parts.size(); ++j)
      if (j != i)
        others += sizes[i][j] = static_cast<long long>(parts[i][j] * static_cast<double>(total));
    sizes[i][i] = std::max(0LL, total - others);
  }
  return sizes;
}

}  // namespace

Sizes symmetric_sizes(int ranks, long long total, unsigned seed, bool equal) {
  std::mt19937 random(seed);
  Weights u(ranks, std::vector<double>(ranks, 1));
  for (int i = 0; i < ranks && !equal; ++i)
    for (int j = i; j < ranks; ++j) u[i][j] = u[j][i] = uniform(random);
  const std::vector<double> d = balance(u);
  for (int i = 0; i < ranks; ++i)
    // computed once, so that both sides round alike
    for (int j = i; j < ranks; ++j) u[i][j] = u[j][i] = d[i] * u[i][j] * d[j];
  return round_to(u, total);
}

Sizes general_sizes(int ranks, long long total, unsigned seed) {
  std::mt19937 random(seed);
  Weights u(ranks, std::vector<double>(ranks));
  for (std::vector<double>& row : u) {
    for (double& each : row) each = uniform(random);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& each : row) each /= sum;
  }
  return round_to(u, total);
}

}  // namespace bench::inplace
