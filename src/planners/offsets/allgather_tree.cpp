// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/allgather_tree.hpp"

#include <algorithm>

#include "planners/offsets/place_map.hpp"

namespace tonari {
namespace {

constexpr std::uint32_t none = AllgatherTree::none;

// Every place on some path, with the earliest step that reaches it and from where. The chain of
// parents is consistent: the place before the earliest arrival on a path was itself reached at an
// earlier step.
struct Arrivals {
  std::vector<Vec> places;  // of every hop of every block, in path order
  std::vector<AllgatherTree::Node> nodes{{Vec{}, none, -1, none}};
  std::vector<std::uint32_t> end_of;  // per block: the node its path ends in
};

std::vector<Vec> places_on_paths(const Routing& routing) {
  std::vector<Vec> places;
  places.reserve(routing.hops());
  for (std::size_t i = 0; i < routing.blocks(); ++i) {
    Vec at;
    for (std::int32_t step : routing.path(i))
      places.push_back(at = routing.near().grid.shortest(at + routing.steps()[step]));
  }
  return places;
}

Arrivals collect(const Routing& routing) {
  Arrivals all{places_on_paths(routing), {{Vec{}, none, -1, none}}, {}};
  PlaceMap node_at(all.places, none);
  node_at[Vec{}] = 0;
  std::size_t hop = 0;
  for (std::size_t i = 0; i < routing.blocks(); ++i) {
    std::uint32_t at = 0;
    for (std::int32_t step : routing.path(i)) {
      const Vec& place = all.places[hop++];
      std::uint32_t& node = node_at[place];
      if (node == none) {
        node = static_cast<std::uint32_t>(all.nodes.size());
        all.nodes.push_back({place, at, step, none});
      } else if (node != 0 && step < all.nodes[node].step) {
        all.nodes[node].parent = at;
        all.nodes[node].step = step;
      }
      at = node;
    }
    all.end_of.push_back(at);
  }
  return all;
}

// Keeps the nodes that some block needs, sorted by step so that parents come before their children.
AllgatherTree prune(const Arrivals& all, const Routing& routing) {
  std::vector<bool> needed(all.nodes.size(), false);
  needed[0] = true;
  for (std::uint32_t node : all.end_of)
    for (; !needed[node]; node = all.nodes[node].parent) needed[node] = true;
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 0; node < all.nodes.size(); ++node)
    if (needed[node]) order.push_back(node);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return all.nodes[a].step < all.nodes[b].step; });
  std::vector<std::uint32_t> renamed(all.nodes.size(), none);
  AllgatherTree tree;
  for (std::uint32_t node : order) {
    renamed[node] = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes.push_back(all.nodes[node]);
    if (node != 0) tree.nodes.back().parent = renamed[all.nodes[node].parent];
  }
  for (std::uint32_t i = 0; i < routing.blocks(); ++i) {
    const bool somewhere = routing.near().grid.reachable(routing.near().offsets[i]);
    tree.node_of.push_back(somewhere ? renamed[all.end_of[i]] : none);
    AllgatherTree::Node& end = tree.nodes[renamed[all.end_of[i]]];
    if (somewhere && tree.node_of[i] != 0 && end.block == none) end.block = i;
  }
  return tree;
}

void add_leaves(AllgatherTree& tree) {
  tree.leaves.resize(tree.nodes.size());
  for (std::uint32_t i = 0; i < tree.node_of.size(); ++i)
    for (std::uint32_t node = tree.node_of[i]; node != none; node = tree.nodes[node].parent)
      tree.leaves[node].push_back(i);
}

}  // namespace

AllgatherTree build_allgather_tree(const Routing& routing) {
  AllgatherTree tree = prune(collect(routing), routing);
  if (!routing.near().grid.fully_periodic()) add_leaves(tree);
  return tree;
}

}  // namespace tonari
