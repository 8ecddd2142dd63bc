// SPDX-License-Identifier: BSD-3-Clause
#include "topologies.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace conformance {
namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}
int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

// Keeps the first error.
bool succeeds(Edges& e, int rc, const char* function) {
  if (rc == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(rc, text, &length);
  if (e.error.empty()) e.error = std::string(function) + " fails: " + text;
  return false;
}

// ---- grids

using List = std::vector<int>;

int rank_at(const List& extents, const List& closed, List at) {
  int rank = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (closed[d]) at[d] = (at[d] + extents[d]) % extents[d];
    if (at[d] < 0 || at[d] >= extents[d]) return MPI_PROC_NULL;
    rank = rank * extents[d] + at[d];
  }
  return rank;
}

List place_of(int rank, const List& extents) {
  List at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; rank /= extents[d]) at[d] = rank % extents[d];
  return at;
}

// MPI 4.1, section 8.6: two neighbors per dimension, at -1 and at +1. What goes towards +1 arrives
// as the block from -1, also where both are one rank.
void add_grid_edges(Edges& e, const List& extents, const List& closed) {
  for (std::size_t d = 0; d < extents.size(); ++d)
    for (const int step : {-1, 1}) {
      List at = place_of(e.rank, extents);
      at[d] += step;
      e.targets.push_back(rank_at(extents, closed, at));
      e.sources.push_back(e.targets.back());
      e.blocks.push_back(2 * static_cast<int>(d) + (step < 0 ? 1 : 0));
    }
}

MPI_Comm grid(MPI_Comm world, Edges& e, const List& extents, const List& closed) {
  MPI_Comm cart = MPI_COMM_NULL;
  const int rc = MPI_Cart_create(world, static_cast<int>(extents.size()), extents.data(),
                                 closed.data(), 0, &cart);
  if (!succeeds(e, rc, "MPI_Cart_create")) return MPI_COMM_NULL;
  const int all = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
  if (cart == MPI_COMM_NULL && rank_in(world) < all)
    e.error = "MPI_Cart_create leaves out a rank that has a place in the grid";
  if (cart == MPI_COMM_NULL) return cart;
  e.rank = rank_in(cart);
  add_grid_edges(e, extents, closed);
  return cart;
}

List spread(MPI_Comm world, int dimensions) {
  List extents(static_cast<std::size_t>(dimensions), 0);
  MPI_Dims_create(size_of(world), dimensions, extents.data());
  return extents;
}

MPI_Comm open_line(MPI_Comm world, Edges& e) { return grid(world, e, {size_of(world)}, {0}); }
MPI_Comm ring(MPI_Comm world, Edges& e) { return grid(world, e, {size_of(world)}, {1}); }
MPI_Comm open_grid(MPI_Comm world, Edges& e) { return grid(world, e, spread(world, 2), {0, 0}); }
MPI_Comm half_closed(MPI_Comm world, Edges& e) { return grid(world, e, spread(world, 2), {0, 1}); }
MPI_Comm torus(MPI_Comm world, Edges& e) { return grid(world, e, spread(world, 3), {1, 1, 1}); }
MPI_Comm closed_by_one(MPI_Comm world, Edges& e) {
  return grid(world, e, {size_of(world), 1}, {1, 1});
}
MPI_Comm closed_by_two(MPI_Comm world, Edges& e) {
  return grid(world, e, {std::max(size_of(world) / 2, 1), std::min(size_of(world), 2)}, {1, 1});
}
MPI_Comm one_rank(MPI_Comm world, Edges& e) { return grid(world, e, {1, 1}, {1, 1}); }

// The rows of a grid: closed ones of two ranks.
MPI_Comm part_of_grid(MPI_Comm world, Edges& e) {
  Edges whole;
  MPI_Comm cart = closed_by_two(world, whole), row = MPI_COMM_NULL;
  e.error = whole.error;
  if (cart == MPI_COMM_NULL) return cart;
  const int remains[2] = {0, 1};
  const int rc = MPI_Cart_sub(cart, remains, &row);
  succeeds(e, MPI_Comm_free(&cart), "MPI_Comm_free");
  if (!succeeds(e, rc, "MPI_Cart_sub")) return MPI_COMM_NULL;
  e.rank = rank_in(row);
  add_grid_edges(e, {size_of(row)}, {1});
  return row;
}

// ---- graphs

// Whom a rank sends to, of so many; and in which order it names those that it receives from.
using Targets = List (*)(int rank, int ranks);

// The k-th block for a rank is the k-th one from there.
void match(Edges& e, int ranks, Targets targets_of) {
  for (std::size_t j = 0; j < e.sources.size(); ++j) {
    auto before =
        std::count(e.sources.begin(), e.sources.begin() + static_cast<long>(j), e.sources[j]);
    const List there = targets_of(e.sources[j], ranks);
    int block = 0;
    while (there[static_cast<std::size_t>(block)] != e.rank || before-- > 0) ++block;
    e.blocks.push_back(block);
  }
}

Edges edges_of(int rank, int ranks, Targets targets_of) {
  Edges e{rank, targets_of(rank, ranks), {}, {}, {}};
  for (int r = ranks - 1; r >= 0; --r) {
    const List there = targets_of(r, ranks);
    e.sources.insert(e.sources.end(),
                     static_cast<std::size_t>(std::count(there.begin(), there.end(), rank)), r);
  }
  match(e, ranks, targets_of);
  return e;
}

int length(const List& list) { return static_cast<int>(list.size()); }

MPI_Comm adjacent(MPI_Comm world, Edges& e, Targets targets_of, bool weighted = false) {
  e = edges_of(rank_in(world), size_of(world), targets_of);
  const List weights(e.sources.size() + e.targets.size() + 1, 3);
  MPI_Comm graph = MPI_COMM_NULL;
  const int rc = MPI_Dist_graph_create_adjacent(
      world, length(e.sources), e.sources.data(), weighted ? weights.data() : MPI_UNWEIGHTED,
      length(e.targets), e.targets.data(), weighted ? weights.data() : MPI_UNWEIGHTED,
      MPI_INFO_NULL, 0, &graph);
  return succeeds(e, rc, "MPI_Dist_graph_create_adjacent") ? graph : MPI_COMM_NULL;
}

List next_two(int r, int ranks) {
  return ranks > 2 ? List{(r + 1) % ranks, (r + 2) % ranks} : List{(r + 1) % ranks};
}
List twice(int r, int ranks) {
  return {(r + 1) % ranks, (r + 2) % ranks, (r + 1) % ranks, (r + 1) % ranks};
}
List itself(int r, int ranks) { return {r, (r + 1) % ranks, r}; }
List any_degree(int r, int ranks) {
  List targets;
  for (int i = 0; i < r % 4 + (r == 1 ? 3 : 0); ++i)
    targets.push_back((r * 5 + i * (i + 1) / 2) % ranks);
  return targets;
}
List from_first(int r, int ranks) {
  List targets;
  for (int other = 1; other < ranks && r == 0; ++other) targets.push_back(other);
  return targets;
}
List nobody(int, int) { return {}; }
List everybody(int, int ranks) {
  List all;
  for (int other = 0; other < ranks; ++other) all.push_back(other);
  return all;
}

MPI_Comm distinct_edges(MPI_Comm w, Edges& e) { return adjacent(w, e, next_two); }
MPI_Comm double_edges(MPI_Comm w, Edges& e) { return adjacent(w, e, twice); }
MPI_Comm self_edges(MPI_Comm w, Edges& e) { return adjacent(w, e, itself); }
MPI_Comm any_degrees(MPI_Comm w, Edges& e) { return adjacent(w, e, any_degree, true); }
MPI_Comm star(MPI_Comm w, Edges& e) { return adjacent(w, e, from_first); }
MPI_Comm no_edges(MPI_Comm w, Edges& e) { return adjacent(w, e, nobody); }

MPI_Comm duplicate(MPI_Comm world, Edges& e) {
  MPI_Comm graph = any_degrees(world, e), copy = MPI_COMM_NULL;
  if (graph == MPI_COMM_NULL) return graph;
  const int rc = MPI_Comm_dup(graph, &copy);
  succeeds(e, MPI_Comm_free(&graph), "MPI_Comm_free");
  return succeeds(e, rc, "MPI_Comm_dup") ? copy : MPI_COMM_NULL;
}

// The last rank names all edges; so the MPI decides about the order of each rank's, and tells it.
MPI_Comm told_by_one(MPI_Comm world, Edges& e) {
  const int ranks = size_of(world), rank = rank_in(world);
  List sources, degrees, targets;
  for (int r = 0; r < ranks && rank == ranks - 1; ++r) {
    const List its = next_two(r, ranks);
    sources.push_back(r), degrees.push_back(length(its));
    targets.insert(targets.end(), its.begin(), its.end());
  }
  MPI_Comm graph = MPI_COMM_NULL;
  const int rc = MPI_Dist_graph_create(world, length(sources), sources.data(), degrees.data(),
                                       targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  e = edges_of(rank, ranks, next_two);
  if (!succeeds(e, rc, "MPI_Dist_graph_create")) return MPI_COMM_NULL;
  const int told =
      MPI_Dist_graph_neighbors(graph, length(e.sources), e.sources.data(), MPI_UNWEIGHTED,
                               length(e.targets), e.targets.data(), MPI_UNWEIGHTED);
  succeeds(e, told, "MPI_Dist_graph_neighbors");
  const std::size_t degree = e.targets.size();
  List all(degree * static_cast<std::size_t>(ranks));
  MPI_Allgather(e.targets.data(), length(e.targets), MPI_INT, all.data(), length(e.targets),
                MPI_INT, world);
  for (std::size_t j = 0; j < e.sources.size(); ++j) {
    const auto first = all.begin() + e.sources[j] * static_cast<long>(degree);
    e.blocks[j] = static_cast<int>(std::find(first, all.end(), rank) - first);
  }
  return graph;
}

// Graphs of MPI 1: both directions of an edge are named, and neighbors are those named.
MPI_Comm graph(MPI_Comm world, Edges& e, Targets targets_of) {
  const int ranks = size_of(world);
  List ends, all;
  for (int r = 0; r < ranks; ++r) {
    const List its = targets_of(r, ranks);
    all.insert(all.end(), its.begin(), its.end());
    ends.push_back(length(all));
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (!succeeds(e, MPI_Graph_create(world, ranks, ends.data(), all.data(), 0, &made),
                "MPI_Graph_create"))
    return MPI_COMM_NULL;
  e.rank = rank_in(made);
  e.targets = e.sources = targets_of(e.rank, ranks);
  match(e, ranks, targets_of);
  return made;
}

List both_sides(int r, int ranks) {
  return ranks > 2 ? List{(r + ranks - 1) % ranks, (r + 1) % ranks} : List{(r + 1) % ranks};
}
List both_sides_twice(int r, int ranks) {
  const int before = (r + ranks - 1) % ranks, next = (r + 1) % ranks;
  return {next, before, r, next, before};
}
MPI_Comm old_graph(MPI_Comm world, Edges& e) { return graph(world, e, both_sides); }
MPI_Comm old_graph_twice(MPI_Comm world, Edges& e) { return graph(world, e, both_sides_twice); }

// ---- all with all

MPI_Comm all_with_all(MPI_Comm comm, Edges& e) {
  e = edges_of(rank_in(comm), size_of(comm), everybody);
  std::ranges::reverse(e.sources), std::ranges::reverse(e.blocks);  // in the order of ranks
  return comm;
}
MPI_Comm all_ranks(MPI_Comm world, Edges& e) {
  MPI_Comm copy = MPI_COMM_NULL;
  if (!succeeds(e, MPI_Comm_dup(world, &copy), "MPI_Comm_dup")) return MPI_COMM_NULL;
  return all_with_all(copy, e);
}
MPI_Comm every_second_rank(MPI_Comm world, Edges& e) {
  MPI_Comm half = MPI_COMM_NULL;
  if (!succeeds(e, MPI_Comm_split(world, rank_in(world) % 2, -rank_in(world), &half),
                "MPI_Comm_split"))
    return MPI_COMM_NULL;
  return all_with_all(half, e);
}

}  // namespace

const std::vector<Topology>& all_topologies() {
  static const std::vector<Topology> all{
      {"open line", false, true, open_line},
      {"closed line", true, true, ring},
      {"open grid", false, true, open_grid},
      {"grid with one closed side", true, true, half_closed},
      {"closed grid of three sides", false, true, torus},
      {"closed grid, a side of one rank", true, true, closed_by_one},
      {"closed grid, a side of two ranks", false, true, closed_by_two},
      {"closed grid of one rank", false, true, one_rank},
      {"rows of a closed grid", false, true, part_of_grid},
      {"graph", false, true, old_graph},
      {"graph, edges twice", true, true, old_graph_twice},
      {"distributed graph", false, true, distinct_edges},
      {"distributed graph, edges twice", true, true, double_edges},
      {"distributed graph, edges to itself", false, true, self_edges},
      {"distributed graph, any degrees", true, true, any_degrees},
      {"distributed graph, duplicate", false, true, duplicate},
      {"distributed graph, told by one", false, true, told_by_one},
      {"star", true, true, star},
      {"no edges", false, true, no_edges},
      {"all ranks", true, false, all_ranks},
      {"every second rank", false, false, every_second_rank},
  };
  return all;
}

}  // namespace conformance
