// SPDX-License-Identifier: BSD-3-Clause
// The names of the points on balanced's front, as variants of algorithms have them and as
// `tonari share --front` prints them:
//
//   3 stages
//   3 stages price 5            5 words more for a message less
//   2 stages price 5 words 1.25 ... and at most 1.25 times the words of direct sending
//   words 1.25                  the fewest messages within that limit, in any number of stages
#pragma once

#include <optional>
#include <string>

#include "planners/patterns/balance_options.hpp"

namespace tonari {

// Prices in such names are in words of so many bytes, as those of matrices in files.
constexpr double priced_word_bytes = 8;

// Whether it is meant as such a name: it begins with a digit or with `words`.
bool names_a_balance(const std::string& name);

// Throws Errc::algorithm, with what to change, if it is not well formed or out of range.
BalanceOptions balance_named(const std::string& name);

}  // namespace tonari
