// SPDX-License-Identifier: BSD-3-Clause
// HPCG's exchange of ghosts by tonari: it takes the place of HPCG's src/ExchangeHalo.cpp. Who is
// sent to, and how much, stays for each level of the grid, so a neighborhood and a request are made
// once for each vector. tools/real_programs/measure.py builds HPCG with it.
#include "ExchangeHalo.hpp"

#include <mpi.h>
#include <tonari/tonari.h>

#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace {

// The blocks of one side: ranks in HPCG's order, one behind the other.
struct Side {
  std::vector<int> counts;
  std::vector<MPI_Aint> places;

  Side(const local_int_t* lengths, int neighbors)
      : counts(lengths, lengths + neighbors), places(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), MPI_Aint{0});
  }
};

tonari_neighborhood neighborhood_of(const SparseMatrix& A) {
  const int count = A.numberOfSendNeighbors;
  tonari_neighborhood near;
  tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, count, A.neighbors, MPI_UNWEIGHTED, count,
                                      A.neighbors, MPI_UNWEIGHTED, MPI_INFO_NULL, &near);
  return near;
}

tonari_request request_for(const SparseMatrix& A, double* values) {
  static std::map<const void*, tonari_neighborhood> levels;
  const auto [level, is_new] = levels.try_emplace(&A);
  if (is_new) level->second = neighborhood_of(A);
  const Side out(A.sendLength, A.numberOfSendNeighbors);
  const Side in(A.receiveLength, A.numberOfSendNeighbors);
  tonari_request request;
  tonari_alltoallv_init(A.sendBuffer, out.counts.data(), out.places.data(), MPI_DOUBLE,
                        values + A.localNumberOfRows, in.counts.data(), in.places.data(),
                        MPI_DOUBLE, level->second, MPI_INFO_NULL, &request);
  return request;
}

}  // namespace

void ExchangeHalo(const SparseMatrix& A, Vector& x) {
  static std::map<std::pair<const void*, double*>, tonari_request> requests;
  const auto [found, is_new] = requests.try_emplace({&A, x.values});
  if (is_new) found->second = request_for(A, x.values);
  for (local_int_t k = 0; k < A.totalToBeSent; ++k) A.sendBuffer[k] = x.values[A.elementsToSend[k]];
  tonari_start(found->second);
  tonari_wait(found->second);
}
