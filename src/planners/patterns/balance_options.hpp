// SPDX-License-Identifier: BSD-3-Clause
// Which point of its front balanced (balanced.hpp) is to find: fewer messages or fewer words.
#pragma once

#include <limits>

namespace tonari {

// As many as have the fewest messages within options.words, whatever the price: within_words.hpp.
inline constexpr int any_stages = 0;

struct BalanceOptions {
  int stages = 2;  // 1 to 8; 1: direct; or any_stages
  // more words that one message less may cost in thinning: moves along the front. 0: no detours
  double price = std::numeric_limits<double>::infinity();
  // most words of all, relative to sending them directly; at least 1
  double words = std::numeric_limits<double>::infinity();
};

}  // namespace tonari
