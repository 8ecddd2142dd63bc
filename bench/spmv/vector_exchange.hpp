// SPDX-License-Identifier: BSD-3-Clause
// tonari_vector as candidates: one-shot, its one-shot calls; vector/ROUTE, its requests; start-with
// and two-requests, which exchange two pairs of arrays in turn.
#pragma once

#include <tonari/vector.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "spmv/contest.hpp"

namespace bench::spmv {

const std::vector<std::string>& route_names();
std::string route_of(const std::string& name);  // empty: no such candidate
// N dimensions take at least 2^N ranks
bool route_applies(const std::string& route, const Share& share);

// [collective] Forward: from owned values to ghosts in the order of share.ghosts; otherwise the
// reverse. Null: the route needs more ranks.
std::unique_ptr<Way> make_vector(bool forward, const std::string& route, const Share& share,
                                 const std::string& tune, const double* from, double* to);

// Two pairs of arrays, and which of them the last exchange was of.
struct Turns {
  struct Pair {
    const double* from;
    double* to;
  };
  std::array<Pair, 2> pairs;
  std::size_t& at;
};

inline constexpr const char* start_with = "start-with";
inline constexpr const char* two_requests = "two-requests";
// [collective] The pairs in turn, straight: by one request that tonari_start_with starts
// (start_with), or by two (two_requests).
std::unique_ptr<Way> make_in_turn(bool forward, const std::string& name, const Share& share,
                                  const std::string& tune, Turns turns);

inline constexpr const char* one_shot_calls = "one-shot";
// [collective] The same by one-shot calls, straight.
std::unique_ptr<Way> make_one_shot_calls(bool forward, const Share& share, const double* from,
                                         double* to);

}  // namespace bench::spmv
