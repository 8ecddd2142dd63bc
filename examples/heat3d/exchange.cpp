// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

namespace {

// One dimension of a block that goes towards c: the last layer inside if c is 1, the first if it is
// -1, all points if it is 0.
int first_sent(int n, int c) { return c == 1 ? n : 1; }
// What comes from the neighbor at -c belongs in the ghost layer on that side.
int first_received(int n, int c) { return c == 1 ? 0 : c == -1 ? n + 1 : 1; }

MPI_Datatype block_type(const Domain& domain, const int* offset, int (*first)(int, int)) {
  Triple sizes, subsizes, starts;
  for (int d = 0; d < 3; ++d) {
    sizes[d] = domain.width();
    subsizes[d] = offset[d] == 0 ? domain.n : 1;
    starts[d] = first(domain.n, offset[d]);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE,
                           &type);
  MPI_Type_commit(&type);
  return type;
}

std::vector<int> moore_offsets() {
  std::vector<int> offsets;
  for (int a = -1; a <= 1; ++a)
    for (int b = -1; b <= 1; ++b)
      for (int c = -1; c <= 1; ++c)
        if (a != 0 || b != 0 || c != 0) offsets.insert(offsets.end(), {a, b, c});
  return offsets;
}

int rank_at(const Domain& domain, const int* offset, int sign) {
  Triple at;
  for (int d = 0; d < 3; ++d) at[d] = domain.me[d] + sign * offset[d];
  int rank = MPI_PROC_NULL;
  MPI_Cart_rank(domain.cart, at.data(), &rank);
  return rank;
}

}  // namespace

const std::vector<int>& Halo::offsets() {
  static const std::vector<int> offsets = moore_offsets();
  return offsets;
}

Halo::Halo(const Domain& domain) : counts_(neighbors, 1), displacements_(neighbors, 0) {
  for (int i = 0; i < neighbors; ++i) {
    send_.push_back(block_type(domain, &offsets()[3 * i], first_sent));
    recv_.push_back(block_type(domain, &offsets()[3 * i], first_received));
  }
}

Halo::~Halo() {
  for (MPI_Datatype& type : send_) MPI_Type_free(&type);
  for (MPI_Datatype& type : recv_) MPI_Type_free(&type);
}

TonariExchange::TonariExchange(const Domain& domain, const Halo& halo, std::array<Field, 2>& fields)
    : near_(domain.cart, Halo::offsets()) {
  for (int which = 0; which < 2; ++which) {
    double* field = fields[which].data();
    requests_[which] =
        near_.alltoallw_init(field, halo.counts(), halo.displacements(), halo.send(), field,
                             halo.counts(), halo.displacements(), halo.recv());
  }
  setup_seconds_ += MPI_Wtime();
}

void TonariExchange::operator()(int which) {
  requests_[which].start();
  requests_[which].wait();
}

NativeExchange::NativeExchange(const Domain& domain, const Halo& halo, std::array<Field, 2>& fields)
    : halo_(halo), fields_(fields) {
  std::vector<int> targets, sources;
  for (int i = 0; i < Halo::neighbors; ++i) {
    targets.push_back(rank_at(domain, &Halo::offsets()[3 * i], 1));
    sources.push_back(rank_at(domain, &Halo::offsets()[3 * i], -1));
  }
  // Of MPI_COMM_WORLD, whose ranks the grid kept: Open MPI 5.0 treats a graph made of a Cartesian
  // communicator as Cartesian, and crashes.
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, Halo::neighbors, sources.data(), MPI_UNWEIGHTED,
                                 Halo::neighbors, targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph_);
}

void NativeExchange::operator()(int which) {
  double* field = fields_[which].data();
  MPI_Neighbor_alltoallw(field, halo_.counts().data(), halo_.displacements().data(),
                         halo_.send().data(), field, halo_.counts().data(),
                         halo_.displacements().data(), halo_.recv().data(), graph_);
}
