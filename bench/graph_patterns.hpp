// SPDX-License-Identifier: BSD-3-Clause
// Directed graphs by name, for the benchmark: pure, the same on every rank.
#pragma once

#include <string>
#include <vector>

#include "topology/vertex.hpp"

namespace bench {

// random:P        every edge exists with probability P, from 0 to 1
//                 (the sparse all-to-all A(s,p) of Hoefler 2012, §IV-B1)
// hotspot         rank 0 sends to all others
// hotspot-in      all others send to rank 0
// scale-free:K    every rank is linked to K earlier ones, in both directions,
//                 preferring those with many links (Barabasi and Albert 1999)
// clique:K        groups of K ranks, all to all within
// Each may end in :SEED (default 1).
bool is_graph(const std::string& pattern);

// All vertices. Throws tonari::Error if the name is not understood.
std::vector<tonari::Vertex> make_graph(const std::string& pattern, int ranks);

}  // namespace bench
