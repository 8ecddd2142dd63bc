// tonari_vector as candidates: one-shot, its single calls, and vector/ROUTE, its requests.
#pragma once

#include <tonari/vector.h>

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

inline constexpr const char* single_calls = "one-shot";
// [collective] The same by single calls, straight.
std::unique_ptr<Way> make_single_calls(bool forward, const Share& share, const double* from,
                                       double* to);

}  // namespace bench::spmv
