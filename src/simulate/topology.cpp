// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/topology.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"

namespace tonari::sim {
namespace {

[[noreturn]] void refuse() {
  fail(Errc::argument,
       "it must be flat, torus:4x4x4, fat-tree:16 or dragonfly:8,4, with numbers of your own from "
       "1 to 1000000");
}

std::vector<std::uint32_t> sizes_of(const std::string& text, char between) {
  std::vector<std::uint32_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;; ++at) {
    std::uint32_t size = 0;
    const auto [next, status] = std::from_chars(at, end, size);
    if (status != std::errc() || size < 1 || size > 1'000'000) refuse();
    sizes.push_back(size);
    at = next;
    if (at == end) return sizes;
    if (*at != between) refuse();
  }
}

std::uint32_t torus_hops(const std::vector<std::uint32_t>& sizes, std::uint32_t a,
                         std::uint32_t b) {
  std::uint32_t distance = 0;
  for (std::size_t j = sizes.size(); j-- > 0;) {
    const std::uint32_t here = a % sizes[j], there = b % sizes[j];
    const std::uint32_t apart = here > there ? here - there : there - here;
    distance += std::min(apart, sizes[j] - apart);
    a /= sizes[j], b /= sizes[j];
  }
  return distance > 0 ? distance - 1 : 0;
}

std::uint32_t tree_hops(std::uint32_t width, std::uint32_t a, std::uint32_t b) {
  std::uint32_t up = 0;
  for (a /= width, b /= width; a != b; a /= width, b /= width) ++up;
  return 2 * up;
}

std::uint32_t dragonfly_hops(std::uint32_t routers, std::uint32_t nodes, std::uint32_t a,
                             std::uint32_t b) {
  if (a / nodes == b / nodes) return 0;
  return a / nodes / routers == b / nodes / routers ? 1 : 3;
}

}  // namespace

Topology topology_from_text(const std::string& text) {
  if (text == "flat") return {};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) refuse();
  const std::string name = text.substr(0, colon), rest = text.substr(colon + 1);
  Topology topology;
  if (name == "torus")
    topology = {Network::torus, sizes_of(rest, 'x')};
  else if (name == "fat-tree")
    topology = {Network::fat_tree, sizes_of(rest, ',')};
  else if (name == "dragonfly")
    topology = {Network::dragonfly, sizes_of(rest, ',')};
  const std::size_t numbers = topology.sizes.size();
  const bool good =
      topology.network == Network::torus
          ? numbers >= 1
          : (topology.network == Network::fat_tree && numbers == 1 && topology.sizes[0] > 1) ||
                (topology.network == Network::dragonfly && numbers == 2);
  if (!good) refuse();
  return topology;
}

std::uint64_t room_of(const Topology& topology) {
  if (topology.network != Network::torus) return ~std::uint64_t{0};
  std::uint64_t room = 1;
  for (std::uint32_t size : topology.sizes) room = std::min(room * size, std::uint64_t{1} << 40);
  return room;
}

std::uint32_t hops(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  switch (topology.network) {
    case Network::torus:
      return torus_hops(topology.sizes, a, b);
    case Network::fat_tree:
      return tree_hops(topology.sizes[0], a, b);
    case Network::dragonfly:
      return dragonfly_hops(topology.sizes[0], topology.sizes[1], a, b);
    default:
      return 0;
  }
}

}  // namespace tonari::sim
