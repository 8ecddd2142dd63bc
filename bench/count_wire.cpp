// SPDX-License-Identifier: BSD-3-Clause
#include "count.hpp"
#include "wire_source.hpp"

namespace bench {

Wire::Wire(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto send = [&](int to, int from, int times) {
    for (int i = 0; i < times; ++i) {
      char out = 1, in = 0;
      PMPI_Sendrecv(&out, 1, MPI_CHAR, to, 0, &in, 1, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
    }
  };
  const auto everywhere = [&](bool mine) {
    int all = mine;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm);
    return all != 0;
  };
  others_ = everywhere(ranks == 1 || count([&] {
                                       send((rank + 1) % ranks, (rank + ranks - 1) % ranks, 5);
                                     }).others == 5);
  const Sent own = count([&] { send(rank, rank, 3); });
  self_ = everywhere(own.self + own.others == 3);
  apart_ = everywhere(own.others == 0);
}

Sent Wire::count(const std::function<void()>& exchange) const {
  start_looking();
  exchange();
  return stop_looking();
}

}  // namespace bench
