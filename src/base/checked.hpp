// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on sizes that refuses to wrap around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"

namespace tonari {

using Bytes = std::uint64_t;

template <class Integer>
Integer checked_add(Integer a, Integer b, const char* what) {
  Integer sum;
  if (__builtin_add_overflow(a, b, &sum))
    fail(Errc::overflow, what, ": ", a, " + ", b, " does not fit");
  return sum;
}

template <class Integer>
Integer checked_subtract(Integer a, Integer b, const char* what) {
  Integer difference;
  if (__builtin_sub_overflow(a, b, &difference))
    fail(Errc::overflow, what, ": ", a, " - ", b, " does not fit");
  return difference;
}

template <class Integer>
Integer checked_multiply(Integer a, Integer b, const char* what) {
  Integer product;
  if (__builtin_mul_overflow(a, b, &product))
    fail(Errc::overflow, what, ": ", a, " * ", b, " does not fit");
  return product;
}

template <class To, class From>
To checked_cast(From value, const char* what) {
  const To result = static_cast<To>(value);
  if (static_cast<From>(result) != value || (result < To{}) != (value < From{}))
    fail(Errc::overflow, what, ": ", value, " does not fit");
  return result;
}

}  // namespace tonari
