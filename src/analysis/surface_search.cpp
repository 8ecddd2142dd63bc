// SPDX-License-Identifier: BSD-3-Clause
// Orders with the least number of messages are closed walks over a graph (least_messages in
// surface_order.cpp). Its vertices are the points of a grid of 3^d, which are the regions and the
// center; an edge is a step of one along one dimension, where one sign comes or goes:
//
//      -+ -- 0+ -- ++
//       |     |     |
//      -0 --  c -- +0
//       |     |     |
//      -- -- 0- -- +-
//
//   d even: the center is left out. There are as many regions of even as of odd level. A closed
//           walk visits each once, and it is cut between levels 1 and 2, where a message more costs
//           least.
//   d odd:  there are two more of odd level. The center counts twice. Cut out of the closed walk it
//           leaves two pieces, all of whose ends are of level 1. One is put behind the other, which
//           saves no message at the seam.
//
// A closed walk through all vertices is found by rotations (L. Posa, Hamiltonian circuits in random
// graphs, 1976): from its end the walk goes on to a vertex it has not visited; where there is none,
// to a vertex v that it has, and the part behind v is turned round, so that its end is another one:
//
//      a - b - v - w - x - end   ->   a - b - v - end - x - w
#include "analysis/surface_search.hpp"

#include <algorithm>
#include <random>

#include "base/error.hpp"

namespace tonari {
namespace {

using Vertex = int;  // a region, the center, or (3^d) the center once more

struct Graph {
  std::vector<std::vector<Vertex>> beside;  // by vertex
  int size = 0;                             // vertices in use

  explicit Graph(int dims) : beside(static_cast<std::size_t>(neighbors(dims)) + 2) {
    const Vertex points = neighbors(dims) + 1, middle = center(dims);
    const bool odd = dims % 2 == 1;
    for (Vertex a = 0; a < points; ++a)
      for (Vertex stride = 1; stride < points; stride *= 3)
        if (const Vertex b = a + stride;
            a / stride % 3 < 2 && (odd || (a != middle && b != middle)))
          join(a, b);
    if (odd)
      for (Vertex face : std::vector<Vertex>(beside[middle])) join(face, points);
    size = odd ? points + 1 : points - 1;
  }

  void join(Vertex a, Vertex b) {
    beside[a].push_back(b);
    beside[b].push_back(a);
  }
};

class Walk {
 public:
  Walk(const Graph& graph, std::uint64_t seed)
      : graph_(graph), random_(seed), place_(graph.beside.size(), nowhere) {
    append(0);
  }

  bool closed() const {
    const auto& last = graph_.beside[path_.back()];
    return static_cast<int>(path_.size()) == graph_.size &&
           std::find(last.begin(), last.end(), path_.front()) != last.end();
  }

  void step() {
    if (!extend()) turn();
  }

  const std::vector<Vertex>& path() const { return path_; }

 private:
  static constexpr int nowhere = -1;

  // To the vertex that will have the fewest ways on, as it is the one most easily left behind
  // (Warnsdorff); one of these by chance.
  bool extend() {
    Vertex best = nowhere;
    std::size_t fewest = 0, equals = 0;
    for (Vertex next : graph_.beside[path_.back()]) {
      if (place_[next] != nowhere) continue;
      const std::size_t ways = ways_on(next);
      if (best == nowhere || ways < fewest) best = nowhere, fewest = ways, equals = 0;
      if (ways == fewest && random_() % ++equals == 0) best = next;
    }
    if (best != nowhere) append(best);
    return best != nowhere;
  }

  std::size_t ways_on(Vertex from) const {
    const auto& beside = graph_.beside[from];
    return static_cast<std::size_t>(std::count_if(beside.begin(), beside.end(),
                                                  [&](Vertex v) { return place_[v] == nowhere; }));
  }

  // Behind a vertex by chance; now and then all of it, so that both ends move.
  void turn() {
    const auto& beside = graph_.beside[path_.back()];
    const bool all = random_() % 16 == 0;
    const int first = all ? 0 : place_[beside[random_() % beside.size()]] + 1;
    std::reverse(path_.begin() + first, path_.end());
    for (std::size_t i = static_cast<std::size_t>(first); i < path_.size(); ++i)
      place_[path_[i]] = static_cast<int>(i);
  }

  void append(Vertex vertex) {
    place_[vertex] = static_cast<int>(path_.size());
    path_.push_back(vertex);
  }

  const Graph& graph_;
  std::mt19937_64 random_;
  std::vector<Vertex> path_;
  std::vector<int> place_;  // by vertex: where in the path
};

bool is_region(Vertex vertex, int dims) {
  return vertex != center(dims) && vertex <= neighbors(dims);
}

int level(Region region, int dims) { return shared_signs(region, region, dims); }

// Cuts a closed walk where that costs least: at a center, or else between levels 1 and 2.
void cut(std::vector<Vertex>& walk, int dims) {
  auto first =
      std::find_if_not(walk.begin(), walk.end(), [&](Vertex v) { return is_region(v, dims); });
  for (auto at = walk.begin(); first == walk.end(); ++at) {
    const Vertex before = at == walk.begin() ? walk.back() : at[-1];
    if (level(*at, dims) == 1 && level(before, dims) == 2) first = at;
  }
  std::rotate(walk.begin(), first, walk.end());
}

// Where the walk misses regions, they come last.
SurfaceOrder order_of(std::vector<Vertex> walk, bool closed, int dims) {
  if (closed) cut(walk, dims);
  std::erase_if(walk, [&](Vertex v) { return !is_region(v, dims); });
  std::vector<bool> there(static_cast<std::size_t>(neighbors(dims)) + 1);
  there[center(dims)] = true;
  for (Region region : walk) there[region] = true;
  for (Region region = 0; region <= neighbors(dims); ++region)
    if (!there[region]) walk.push_back(region);
  return {dims, std::move(walk)};
}

}  // namespace

SurfaceOrder search_surface_order(int dims, std::uint64_t seed, std::uint64_t most_steps) {
  check_surface_dims(dims);
  const Graph graph(dims);
  Walk walk(graph, seed);
  for (std::uint64_t step = 0; step < most_steps && !walk.closed(); ++step) walk.step();
  return order_of(walk.path(), walk.closed(), dims);
}

SurfaceOrder search_surface_order(int dims, std::chrono::duration<double> time) {
  // some tens of milliseconds; a thousand have always been enough so far
  constexpr std::uint64_t steps = 100'000;
  const auto end = std::chrono::steady_clock::now() + time;
  SurfaceOrder best = search_surface_order(dims, 1, steps);
  for (std::uint64_t seed = 2;
       messages(best) > least_messages(dims) && std::chrono::steady_clock::now() < end; ++seed)
    if (SurfaceOrder order = search_surface_order(dims, seed, steps);
        messages(order) < messages(best))
      best = std::move(order);
  return best;
}

}  // namespace tonari
