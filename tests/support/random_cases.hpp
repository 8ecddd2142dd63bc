// SPDX-License-Identifier: BSD-3-Clause
// How many random cases a test of the core goes through, of so many.
#pragma once

#include <cstdlib>

namespace tonari::test {

// The first half of them; all in `make test-long` (TONARI_TEST_EVERY_CASE). Under sanitizers a case
// takes ten times as long, so tests go through the first quarter there.
template <class Number>
Number random_cases(Number all) {
#if defined(TONARI_SANITIZED)
  return (all + 3) / 4;
#else
  return std::getenv("TONARI_TEST_EVERY_CASE") ? all : (all + 1) / 2;
#endif
}

}  // namespace tonari::test
