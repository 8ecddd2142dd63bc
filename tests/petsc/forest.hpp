// SPDX-License-Identifier: BSD-3-Clause
// Star forests of all kinds, and data that differ by rank, place and number.
#pragma once

#include <gtest/gtest.h>
#include <petscsf.h>

#include <cstdint>
#include <random>
#include <vector>

#include "support/mpi_main.hpp"

namespace tonari::test {

#define PETSC_OK(call) ASSERT_EQ(static_cast<int>(call), 0)

// One rank's part of a graph.
struct Graph {
  PetscInt roots = 0;
  std::vector<PetscInt> leaves;  // where they lie
  std::vector<PetscSFNode> remote;
};

struct GraphKind {
  const char* name;
  PetscInt roots;       // of each rank, at most
  PetscInt leaves;      // of each rank, at most
  bool only_neighbors;  // roots are on this rank and the next
  bool hub;             // all leaves have the first root of rank 0
  bool every_third;     // rank has roots and leaves
  bool permuted;        // leaves, with gaps
};

// The same sequence of random numbers on all ranks makes one graph, of which each keeps its part.
inline Graph make_graph(const GraphKind& kind, unsigned seed) {
  std::mt19937 random(seed);
  const int ranks = world_size(), here = world_rank();
  const auto below = [&](PetscInt n) {
    return static_cast<PetscInt>(random() % static_cast<std::uint32_t>(n));
  };
  std::vector<PetscInt> roots(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    roots[static_cast<std::size_t>(r)] = kind.every_third && r % 3 != 0 ? 0 : 1 + below(kind.roots);
  }
  Graph graph;
  graph.roots = roots[static_cast<std::size_t>(here)];
  for (int r = 0; r < ranks; ++r) {
    const PetscInt leaves = kind.every_third && r % 3 == 1 ? 0 : below(kind.leaves + 1);
    PetscInt place = 0;
    for (PetscInt k = 0; k < leaves; ++k) {
      int owner = kind.hub              ? 0
                  : kind.only_neighbors ? (r + static_cast<int>(below(2))) % ranks
                                        : static_cast<int>(below(ranks));
      while (roots[static_cast<std::size_t>(owner)] == 0) owner = (owner + 1) % ranks;
      const PetscInt root = kind.hub ? 0 : below(roots[static_cast<std::size_t>(owner)]);
      place += kind.permuted ? 1 + below(3) : 1;
      if (r != here) continue;
      graph.leaves.push_back(place - 1);
      graph.remote.push_back({owner, root});
    }
    if (kind.permuted && r == here) std::shuffle(graph.leaves.begin(), graph.leaves.end(), random);
    random.seed(seed + 1000U * static_cast<unsigned>(r + 1));
  }
  return graph;
}

inline PetscErrorCode make_forest(Graph graph, const char* type, PetscSF* sf) {
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, sf));
  PetscCall(PetscSFSetType(*sf, type));
  PetscCall(PetscSFSetGraph(*sf, graph.roots, static_cast<PetscInt>(graph.leaves.size()),
                            graph.leaves.data(), PETSC_COPY_VALUES, graph.remote.data(),
                            PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

// As long as the places of leaves need.
inline std::size_t leaf_length(const Graph& graph) {
  PetscInt length = 0;
  for (const PetscInt at : graph.leaves) length = std::max(length, at + 1);
  return static_cast<std::size_t>(length);
}

// Whole numbers, so that sums do not depend on their order.
template <class T>
std::vector<T> numbers(std::size_t count, int what) {
  std::vector<T> made(count);
  for (std::size_t k = 0; k < count; ++k)
    made[k] = static_cast<T>((static_cast<int>(k) * 7 + world_rank() * 31 + what * 13) % 101);
  return made;
}

}  // namespace tonari::test
