// SPDX-License-Identifier: BSD-3-Clause
// Programs that exchange several pairs of buffers like those of a workload: in turn or at once, by
// one request or by one for each.
#pragma once

#include <memory>
#include <string>

#include "candidate.hpp"
#include "keys.hpp"

namespace bench {

// [collective] use: start-with, two-requests (two pairs in turn), group or requests (four at once).
// Null for any other use.
std::unique_ptr<Candidate> make_several(const std::string& use, const Workload& work,
                                        tonari_neighborhood near, const Keys& keys);

}  // namespace bench
