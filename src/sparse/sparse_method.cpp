// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_method.hpp"

#include <bit>

#include "base/error.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {

using Method = SparseMethod::Kind;

std::string SparseMethod::name() const {
  constexpr const char* names[] = {"auto", "pairwise", "nbx", "personalized"};
  if (kind == Method::store_and_forward) return text("store-and-forward/", dimensions);
  return names[static_cast<std::size_t>(kind)];
}

double predict(SparseMethod method, int ranks, double messages, double bytes) {
  constexpr double latency = 2000, overhead = 500, per_rank = 4, per_byte = 0.1;
  // few ranks begin with it whatever they do then
  const double pairwise = latency + 2 * overhead * (ranks - 1);
  if (method.kind == Method::pairwise) return pairwise + per_byte * bytes;
  const double agreement = latency * std::bit_width(static_cast<unsigned>(ranks - 1)) +
                           (ranks <= most_pairwise ? pairwise : 0);
  if (method.kind == Method::personalized)
    return agreement + per_rank * ranks + overhead * messages + per_byte * bytes;
  // a synchronous message goes there and back
  if (method.kind == Method::nbx)
    return 2 * latency + agreement + 2 * overhead * messages + per_byte * bytes;
  double all = 3 * agreement;
  for (const int size : virtual_topology(ranks, method.dimensions))
    all += 2 * latency + agreement + 2 * overhead * (size - 1) + per_byte * bytes;
  return all;
}

SparseMethod fastest_method(int ranks, double messages, double bytes, bool forwards) {
  // all other methods begin with it
  if (ranks <= most_pairwise) return {Method::pairwise};
  SparseMethod best{Method::personalized};
  const auto consider = [&](SparseMethod method) {
    if (predict(method, ranks, messages, bytes) < predict(best, ranks, messages, bytes))
      best = method;
  };
  consider({Method::nbx});
  for (int n = 2; forwards && n <= most_dimensions(ranks); ++n)
    consider({Method::store_and_forward, n});
  return best;
}

}  // namespace tonari
