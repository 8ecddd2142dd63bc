// tonari_vector as a candidate: vector/ROUTE.
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

// [collective] Owned values, and ghosts in the order of share.ghosts. Null: the route needs more
// ranks.
std::unique_ptr<Exchange> make_vector_forward(const std::string& route, const Share& share,
                                              const std::string& tune, const double* owned,
                                              double* ghosts);
std::unique_ptr<Exchange> make_vector_reverse(const std::string& route, const Share& share,
                                              const std::string& tune, const double* ghosts,
                                              double* owned);

}  // namespace bench::spmv
