// SPDX-License-Identifier: BSD-3-Clause
#include "layout/decomposition.hpp"

#include <numeric>

#include "base/error.hpp"

namespace tonari {

Cuts cut_evenly(std::int64_t cells, std::int64_t unit, int parts, int dimension) {
  if (cells % unit != 0)
    fail(Errc::argument, "the grid has ", cells, " cells in dimension ", dimension,
         ", which is no multiple of the brick's ", unit,
         "; choose a multiple, or a brick that divides it");
  const std::int64_t units = cells / unit;
  if (units < parts)
    fail(Errc::argument, "the grid has ", cells, " cells in dimension ", dimension,
         ", too few for ", parts, " subdomains of at least ", unit,
         "; use fewer ranks or subdomains there");
  Cuts cuts;
  for (int i = 0; i < parts; ++i) cuts.push_back((units / parts + (i < units % parts)) * unit);
  return cuts;
}

int Decomposition::subdomains() const {
  int product = 1;
  for (int k = 0; k < dims(); ++k) product *= per_rank[k];
  return product;
}

Cells Decomposition::global() const {
  Cells sum{};
  for (int k = 0; k < dims(); ++k)
    sum[k] = std::accumulate(cuts[k].begin(), cuts[k].end(), std::int64_t{0});
  return sum;
}

Cells Decomposition::position(int rank, int subdomain) const {
  const Vec coordinates = ranks.coordinates(rank);
  Cells at{};
  for (int k = dims() - 1; k >= 0; --k) {
    at[k] = std::int64_t{coordinates[k]} * per_rank[k] + subdomain % per_rank[k];
    subdomain /= per_rank[k];
  }
  return at;
}

Decomposition::Where Decomposition::at(const Cells& position) const {
  Vec coordinates;
  Where found;
  for (int k = 0; k < dims(); ++k) {
    coordinates[k] = static_cast<std::int32_t>(position[k] / per_rank[k]);
    found.subdomain = found.subdomain * per_rank[k] + static_cast<int>(position[k] % per_rank[k]);
    found.number = found.number * static_cast<std::int64_t>(cuts[k].size()) + position[k];
  }
  found.rank = ranks.rank(coordinates);
  return found;
}

Decomposition::Where Decomposition::where(int rank, int subdomain) const {
  return at(position(rank, subdomain));
}

std::optional<Decomposition::Where> Decomposition::neighbor(int rank, int subdomain,
                                                            Region direction) const {
  Cells there = position(rank, subdomain);
  for (int k = 0; k < dims(); ++k) {
    const auto extent = static_cast<std::int64_t>(cuts[k].size());
    there[k] += sign(direction, k, dims());
    if (there[k] >= 0 && there[k] < extent) continue;
    if (!ranks.periodic(k)) return std::nullopt;
    there[k] = (there[k] + extent) % extent;
  }
  return at(there);
}

GridBox Decomposition::box(int rank, int subdomain) const {
  const Cells here = position(rank, subdomain);
  GridBox box{dims(), {}, lower, upper};
  for (int k = 0; k < dims(); ++k) box.own[k] = cuts[k][static_cast<std::size_t>(here[k])];
  return box;
}

Cells Decomposition::first(int rank, int subdomain) const {
  const Cells here = position(rank, subdomain);
  Cells sum{};
  for (int k = 0; k < dims(); ++k)
    sum[k] = std::accumulate(cuts[k].begin(), cuts[k].begin() + here[k], std::int64_t{0});
  return sum;
}

}  // namespace tonari
