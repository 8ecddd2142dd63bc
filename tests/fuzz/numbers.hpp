// SPDX-License-Identifier: BSD-3-Clause
// Numbers of several types in memory, whose sums are exact: small integers.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/elements.hpp"

namespace tonari::fuzz {

// A type of numbers; use(f) calls f with a number of it.
struct Number {
  MPI_Datatype type = MPI_DOUBLE;
  std::size_t bytes = sizeof(double);
  int kind = 0;

  static Number random(test::Random& common) {
    switch (const int kind = test::pick(common, 0, 5)) {
      case 0:
        return {MPI_DOUBLE, sizeof(double), kind};
      case 1:
        return {MPI_FLOAT, sizeof(float), kind};
      case 2:
        return {MPI_INT32_T, sizeof(std::int32_t), kind};
      case 3:
        return {MPI_INT64_T, sizeof(std::int64_t), kind};
      case 4:
        return {MPI_SHORT, sizeof(short), kind};
      default:
        return {MPI_UINT8_T, sizeof(std::uint8_t), kind};
    }
  }
  template <class Use>
  auto use(Use f) const {
    switch (kind) {
      case 0:
        return f(double{});
      case 1:
        return f(float{});
      case 2:
        return f(std::int32_t{});
      case 3:
        return f(std::int64_t{});
      case 4:
        return f(short{});
      default:
        return f(std::uint8_t{});
    }
  }
  void store(void* at, std::int64_t value) const {
    use([&](auto number) {
      number = static_cast<decltype(number)>(value);
      std::memcpy(at, &number, sizeof number);
      return 0;
    });
  }
  // As a number of this type has it: bytes wrap around.
  std::int64_t stored(std::int64_t value) const {
    return use([&](auto number) {
      return static_cast<std::int64_t>(static_cast<decltype(number)>(value));
    });
  }
};

enum class Combining { none, sum, min, max };

inline Combining random_combining(test::Random& common) {
  return static_cast<Combining>(test::pick(common, 1, 3));
}
inline MPI_Op op_of(Combining how) {
  return how == Combining::sum ? MPI_SUM : how == Combining::min ? MPI_MIN : MPI_MAX;
}
inline const char* name_of(Combining how) {
  return how == Combining::sum ? "sum" : how == Combining::min ? "min" : "max";
}
inline std::int64_t combined(Combining how, std::int64_t a, std::int64_t b) {
  return how == Combining::sum ? a + b : how == Combining::min ? std::min(a, b) : std::max(a, b);
}

// 0 to 40, another for each set of words.
inline std::int64_t small_number(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  std::uint64_t x = 0x9E3779B97F4A7C15u;
  for (const std::int64_t word : {a, b, c, d}) {
    x = (x ^ static_cast<std::uint64_t>(word)) * 0xBF58476D1CE4E5B9u;
    x ^= x >> 29;
  }
  return static_cast<std::int64_t>(x % 41);
}

}  // namespace tonari::fuzz
