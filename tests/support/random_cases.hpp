// SPDX-License-Identifier: BSD-3-Clause
// How many random cases a test of the core goes through, of so many.
#pragma once

namespace tonari::test {

// Under sanitizers a case takes ten times as long, so tests go through the first quarter of their
// cases there. `make test-all` runs all of them without.
template <class Number>
constexpr Number random_cases(Number all) {
#if defined(__SANITIZE_ADDRESS__)
  return (all + 3) / 4;
#else
  return all;
#endif
}

}  // namespace tonari::test
