// SPDX-License-Identifier: BSD-3-Clause
// Tells which ranks share a node, from a text that emulates nodes for tests and for planning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tonari {

struct NodeMembers {
  std::int32_t node = 0;            // the lowest rank of the node
  std::vector<std::int32_t> ranks;  // all of it, ascending
};

// The node of `rank`. "2" makes nodes of 2 consecutive ranks; "1,3,4" makes nodes of 1, 3 and 4
// ranks, then one with the rest. Where ranks run out, the last nodes are smaller or missing. Throws
// Errc::argument with `name`, the setting that gave the text, if it is none of these.
NodeMembers node_from_text(const std::string& text, const char* name, int ranks, int rank);

}  // namespace tonari
