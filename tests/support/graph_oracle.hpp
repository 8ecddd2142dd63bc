// SPDX-License-Identifier: BSD-3-Clause
// Directed graphs that every rank knows as a whole, and what an exchange on them must deliver:
// worked out from the lists alone, by the rule of MPI 4.1, 8.6 (the k-th block sent to a rank is
// the k-th that it receives from there).
#pragma once

#include <map>
#include <set>

#include "support/random_sizes.hpp"

namespace tonari::test {

// A rank's lists; -1 is MPI_PROC_NULL. Receive block j is block origins[j] of sources[j].
struct Lists {
  std::vector<int> targets, sources, origins;
};

struct Graph {
  std::vector<Lists> of;  // per rank
  std::string name;

  int source(int rank, int j) const { return of[rank].sources[j]; }
  int origin(int rank, int j) const { return of[rank].origins[j]; }
};

using Edges = std::vector<std::pair<int, int>>;  // from, to

inline void insert_hole(Random& random, std::vector<int>& list) {
  list.insert(list.begin() + pick(random, 0, static_cast<int>(list.size())), -1);
}

inline void find_origins(Graph& graph) {
  for (std::size_t rank = 0; rank < graph.of.size(); ++rank) {
    Lists& lists = graph.of[rank];
    lists.origins.clear();
    std::map<int, int> next;  // per source: the block after the last one found
    for (int source : lists.sources) {
      if (source < 0) {
        lists.origins.push_back(0);
        continue;
      }
      const std::vector<int>& theirs = graph.of[source].targets;
      const auto at =
          std::find(theirs.begin() + next[source], theirs.end(), static_cast<int>(rank)) -
          theirs.begin();
      lists.origins.push_back(static_cast<int>(at));
      next[source] = static_cast<int>(at) + 1;
    }
  }
}

// Both lists in the order of the edges, and if there is a generator: sources in an order of their
// own, and holes.
inline Graph make_graph(int ranks, const Edges& edges, Random* random = nullptr) {
  Graph graph{std::vector<Lists>(ranks), ""};
  for (const auto& [from, to] : edges) {
    graph.of[from].targets.push_back(to);
    graph.of[to].sources.push_back(from);
  }
  if (random)
    for (Lists& lists : graph.of) {
      std::shuffle(lists.sources.begin(), lists.sources.end(), *random);
      while (pick(*random, 0, 3) == 0) insert_hole(*random, lists.sources);
      while (pick(*random, 0, 3) == 0) insert_hole(*random, lists.targets);
    }
  find_origins(graph);
  return graph;
}

inline Edges all_pairs(int ranks) {
  Edges edges;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b) edges.emplace_back(a, b);
  return edges;
}

inline Edges star(int ranks, int center, bool outwards) {
  Edges edges;
  for (int r = 0; r < ranks; ++r)
    if (r != center) edges.emplace_back(outwards ? center : r, outwards ? r : center);
  return edges;
}

// Every edge with the same probability (Erdos and Renyi).
inline Edges erdos_renyi(Random& random, int ranks) {
  Edges edges;
  const int percent = pick(random, 5, 95);
  for (const auto& edge : all_pairs(ranks))
    if (pick(random, 1, 100) <= percent) edges.push_back(edge);
  return edges;
}

// Some ranks only send, some only receive, most edges go to one of them, and the last rank has
// none.
inline Edges one_way(Random& random, int ranks) {
  Edges edges;
  const int used = std::max(1, ranks - 1), senders = pick(random, 1, used);
  for (int k = pick(random, 1, 4 * ranks); k > 0; --k) {
    const int from = pick(random, 0, senders - 1), to = pick(random, 0, used - 1);
    edges.emplace_back(from, std::max(to, pick(random, 0, used - 1)));
  }
  return edges;
}

inline Edges anything(Random& random, int ranks) {  // with repeats and self edges
  Edges edges;
  for (int k = pick(random, 0, 5 * ranks); k > 0; --k)
    edges.emplace_back(pick(random, 0, ranks - 1), pick(random, 0, ranks - 1));
  return edges;
}

inline Graph random_graph(Random& random, int ranks) {
  static const char* const names[] = {"erdos-renyi", "anything", "hot spot", "star inwards",
                                      "complete",    "one way",  "no edges"};
  const int kind = std::min(pick(random, 0, 6), pick(random, 0, 12));
  const int center = pick(random, 0, ranks - 1);
  Edges edges;
  if (kind == 0) edges = erdos_renyi(random, ranks);
  if (kind == 1) edges = anything(random, ranks);
  if (kind == 2) edges = star(ranks, center, true);
  if (kind == 3) edges = star(ranks, center, false);
  if (kind == 4) edges = all_pairs(ranks);
  if (kind == 5) edges = one_way(random, ranks);
  const std::size_t before = edges.size();
  if (pick(random, 0, 2) == 0)
    for (std::size_t k = 0; k < before; ++k)
      if (pick(random, 0, 3) == 0) edges.push_back(edges[k]);
  if (pick(random, 0, 2) == 0) edges.emplace_back(center, center);
  std::shuffle(edges.begin(), edges.end(), random);
  Graph graph = make_graph(ranks, edges, &random);
  graph.name = names[kind];
  return graph;
}

// The neighborhood of a Cartesian communicator: 2j leads down along dimension j, 2j+1 up, and what
// went down comes from above.
inline Graph cartesian_graph(const Topology& grid, int ranks) {
  Topology shifts = grid;
  const int d = grid.dimensions();
  shifts.offsets.assign(static_cast<std::size_t>(2 * d) * d, 0);
  for (int j = 0; j < d; ++j)
    shifts.offsets[(2 * j) * d + j] = -1, shifts.offsets[(2 * j + 1) * d + j] = 1;
  Graph graph{std::vector<Lists>(ranks), "cartesian"};
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < 2 * d; ++i) {
      graph.of[rank].targets.push_back(shifts.target(rank, i));
      graph.of[rank].sources.push_back(shifts.target(rank, i));
      graph.of[rank].origins.push_back(i ^ 1);
    }
  return graph;
}

// ---- What is true of it, and decides what may run

inline int distinct_others(const std::vector<int>& peers, int rank) {
  std::set<int> distinct(peers.begin(), peers.end());
  distinct.erase(-1);
  distinct.erase(rank);
  return static_cast<int>(distinct.size());
}

struct Degrees {
  int most_out = 0, most_in = 0;  // distinct others
  bool balanced = true;           // every rank sends as many blocks as it receives
  int most() const { return std::max(most_out, most_in); }
};

inline Degrees degrees_of(const Graph& graph) {
  Degrees degrees;
  for (int rank = 0; rank < static_cast<int>(graph.of.size()); ++rank) {
    const Lists& lists = graph.of[rank];
    const auto existing = [](const std::vector<int>& list) {
      return static_cast<std::ptrdiff_t>(list.size()) - std::count(list.begin(), list.end(), -1);
    };
    degrees.most_out = std::max(degrees.most_out, distinct_others(lists.targets, rank));
    degrees.most_in = std::max(degrees.most_in, distinct_others(lists.sources, rank));
    degrees.balanced = degrees.balanced && existing(lists.targets) == existing(lists.sources);
  }
  return degrees;
}

// ---- Neighborhoods and buffers

inline std::vector<int> as_mpi(std::vector<int> ranks) {
  std::replace(ranks.begin(), ranks.end(), -1, static_cast<int>(MPI_PROC_NULL));
  return ranks;
}

inline int create_adjacent(MPI_Comm comm, const Lists& lists, MPI_Info info,
                           tonari_neighborhood* near) {
  const std::vector<int> sources = as_mpi(lists.sources), targets = as_mpi(lists.targets);
  return tonari_neighborhood_create_adjacent(comm, static_cast<int>(sources.size()), sources.data(),
                                             MPI_UNWEIGHTED, static_cast<int>(targets.size()),
                                             targets.data(), MPI_UNWEIGHTED, info, near);
}

inline Buffers make_buffers(Random& random, const Graph& graph, int rank, Operation op,
                            const Sizes& sizes) {
  const Lists& lists = graph.of[rank];
  std::vector<int> sent, received;
  for (int i = 0; i < (gathers(op) ? 1 : static_cast<int>(lists.targets.size())); ++i)
    sent.push_back(sizes.of(i, rank));
  for (int j = 0; j < static_cast<int>(lists.sources.size()); ++j) {
    const int source = lists.sources[j];
    received.push_back(source < 0 ? sizes.of(j, rank)
                                  : sizes.of(gathers(op) ? 0 : lists.origins[j], source));
  }
  Buffers b{op, {}, {}, {}};
  b.out = make_side(random, op, true, sent, sizes.quantum);
  b.in = make_side(random, op, false, received, sizes.quantum);
  return b;
}

}  // namespace tonari::test
