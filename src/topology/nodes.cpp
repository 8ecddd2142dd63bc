// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nodes.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/error.hpp"

namespace tonari {
namespace {

std::vector<std::int64_t> read_sizes(const std::string& text, const char* name) {
  std::vector<std::int64_t> sizes;
  const char *at = text.data(), *const end = at + text.size();
  for (bool more = true; more;) {
    std::int32_t size = 0;
    const auto [next, status] = std::from_chars(at, end, size);
    if (status != std::errc() || size < 1 || (next != end && *next != ','))
      fail(Errc::argument, name, " is '", text.substr(0, 60),
           "'; it must be the number of ranks per node, as in 2, or the sizes of nodes with commas "
           "between them, as in 1,3,4");
    sizes.push_back(size);
    more = next != end;
    at = next + more;
  }
  return sizes;
}

}  // namespace

NodeMembers node_from_text(const std::string& text, const char* name, int ranks, int rank) {
  const std::vector<std::int64_t> sizes = read_sizes(text, name);
  std::int64_t begin = 0, size = 0;
  if (sizes.size() == 1) {
    size = sizes[0];
    begin = rank / size * size;
  } else {
    std::size_t n = 0;
    while (n < sizes.size() && begin + sizes[n] <= rank) begin += sizes[n++];
    size = n < sizes.size() ? sizes[n] : ranks;
  }
  NodeMembers node{static_cast<std::int32_t>(begin), {}};
  node.ranks.resize(static_cast<std::size_t>(std::min<std::int64_t>(size, ranks - begin)));
  std::iota(node.ranks.begin(), node.ranks.end(), node.node);
  return node;
}

}  // namespace tonari
