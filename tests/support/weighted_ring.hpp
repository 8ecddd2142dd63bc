// SPDX-License-Identifier: BSD-3-Clause
// A graph whose edges have different weights: rank r sends to r+1, to r+3 and to r+1 once more,
// modulo the number of ranks.
#pragma once

#include <cstdlib>

#include "support/oracle.hpp"

namespace tonari::test {

// Emulates nodes while it lives: TONARI_NODES.
class EmulatedNodes {
 public:
  explicit EmulatedNodes(const char* text) { setenv("TONARI_NODES", text, 1); }
  ~EmulatedNodes() { unsetenv("TONARI_NODES"); }
  EmulatedNodes(const EmulatedNodes&) = delete;
  EmulatedNodes& operator=(const EmulatedNodes&) = delete;
};

struct WeightedRing {
  static constexpr int steps[] = {1, 3, 1};
  static constexpr int degree = 3;
  // all edges that leave a rank weigh the same, as an allgather needs
  bool same_from_one_rank = false;

  int rank = world_rank(), ranks = world_size();
  int target(int i) const { return (rank + steps[i]) % ranks; }
  int source(int i) const { return ((rank - steps[i]) % ranks + ranks) % ranks; }
  // Integers that travel along edge i of a rank.
  int count(int from, int i) const {
    return same_from_one_rank ? 1 + from % 3 : 1 + (from + 2 * i) % 4;
  }
  // Edge i from here arrives as receive block i: the order of repeated edges is kept.
  tonari_neighborhood make(MPI_Info info, int* code = nullptr) const {
    int sources[degree], targets[degree], in[degree], out[degree];
    for (int i = 0; i < degree; ++i) {
      sources[i] = source(i), targets[i] = target(i);
      in[i] = 4 * count(source(i), i), out[i] = 4 * count(rank, i);
    }
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const int got = tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, degree, sources, in, degree,
                                                        targets, out, info, &near);
    if (code)
      *code = got;
    else
      EXPECT_OK(got);
    return near;
  }

  // On small rings the three edges may go to one rank; the k-th of them from a rank is the k-th
  // that it receives, which is by i.
  struct Data {
    std::vector<int> out, in, out_counts, in_counts;
    std::vector<MPI_Aint> places;
  };
  static constexpr int room = 8;  // integers per block
  Data data(int round) const {
    Data d;
    for (int i = 0; i < degree; ++i) {
      d.out_counts.push_back(count(rank, i)), d.in_counts.push_back(count(source(i), i));
      d.places.push_back(room * i);
    }
    fill(d, round);
    return d;
  }
  static int value(int from, int i, int k, int round) {
    return ((round * 64 + from) * 8 + i) * 16 + k;
  }
  void fill(Data& d, int round) const {
    d.out.assign(room * degree, -1), d.in.assign(room * degree, -7);
    for (int i = 0; i < degree; ++i)
      for (int k = 0; k < room; ++k) d.out[room * i + k] = value(rank, i, k, round);
  }
  void expect(const Data& d, int round, bool gathers = false) const {
    for (int i = 0; i < degree; ++i)
      for (int k = 0; k < room; ++k)
        EXPECT_EQ(d.in[room * i + k],
                  k < d.in_counts[i] ? value(source(i), gathers ? 0 : i, k, round) : -7)
            << "block " << i << " from " << source(i);
  }
};

inline int alltoallv(WeightedRing::Data& d, tonari_neighborhood near) {
  return tonari_alltoallv(d.out.data(), d.out_counts.data(), d.places.data(), MPI_INT, d.in.data(),
                          d.in_counts.data(), d.places.data(), MPI_INT, near);
}
inline int ialltoallv(WeightedRing::Data& d, tonari_neighborhood near, tonari_request* request) {
  return tonari_ialltoallv(d.out.data(), d.out_counts.data(), d.places.data(), MPI_INT, d.in.data(),
                           d.in_counts.data(), d.places.data(), MPI_INT, near, request);
}
inline int alltoallv_init(WeightedRing::Data& d, tonari_neighborhood near, MPI_Info info,
                          tonari_request* request) {
  return tonari_alltoallv_init(d.out.data(), d.out_counts.data(), d.places.data(), MPI_INT,
                               d.in.data(), d.in_counts.data(), d.places.data(), MPI_INT, near,
                               info, request);
}
inline int allgatherv(WeightedRing::Data& d, tonari_neighborhood near) {
  return tonari_allgatherv(d.out.data(), d.out_counts[0], MPI_INT, d.in.data(), d.in_counts.data(),
                           d.places.data(), MPI_INT, near);
}

}  // namespace tonari::test
