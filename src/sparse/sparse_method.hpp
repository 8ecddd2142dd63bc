// SPDX-License-Identifier: BSD-3-Clause
// How messages find receivers that do not expect them, and which way is predicted to be fastest.
#pragma once

#include <cstdint>
#include <string>

namespace tonari {

struct SparseMethod {
  enum class Kind : std::uint8_t { automatic, pairwise, nbx, personalized, store_and_forward };
  Kind kind = Kind::automatic;
  int dimensions = 0;  // of store-and-forward
  std::string name() const;
};

inline constexpr int most_pairwise = 16;  // ranks

// What an exchange is expected to take, in nanoseconds: LogGP with the constants of a usual
// cluster. messages, bytes: that the busiest rank sends.
double predict(SparseMethod method, int ranks, double messages, double bytes);
// The one that is predicted to be the fastest; with or without store-and-forward.
SparseMethod fastest_method(int ranks, double messages, double bytes, bool forwards = true);

}  // namespace tonari
