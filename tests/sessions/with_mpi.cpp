// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives of the MPI's own, for `tonari run` to carry out.
#include "sessions/exchanges.hpp"
#include "sessions/session.hpp"

namespace sessions {
namespace {

// A ring of at least three ranks: MPIs swap the two blocks of shorter ones.
struct Ring {
  explicit Ring(MPI_Comm comm) {
    const int periodic = 1;
    MPI_Comm_size(comm, &ranks);
    MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &cart);
    MPI_Comm_rank(cart, &rank);
  }
  void fill() { out[0] = 2 * rank, out[1] = 2 * rank + 1, in[0] = in[1] = -1; }
  void check(const char* what) const {
    const int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
    require(in[0] == 2 * before + 1 && in[1] == 2 * behind, what);
  }

  MPI_Comm cart = MPI_COMM_NULL;
  int rank = 0, ranks = 0, out[2] = {}, in[2] = {};
};

void exchange_by_request(Ring& ring) {
#if MPI_VERSION >= 4
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Neighbor_alltoall_init(ring.out, 1, MPI_INT, ring.in, 1, MPI_INT, ring.cart, MPI_INFO_NULL,
                             &request);
  for (int k = 0; k < 5; ++k) {
    ring.fill();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ring.check("a persistent exchange is wrong");
  }
  MPI_Request_free(&request);
#else
  (void)ring;
#endif
}

}  // namespace

void with_mpi(MPI_Comm comm, bool frees) {
  Ring ring(comm);
  for (int k = 0; k < 20; ++k) {
    ring.fill();
    MPI_Neighbor_alltoall(ring.out, 1, MPI_INT, ring.in, 1, MPI_INT, ring.cart);
    ring.check("a blocking exchange is wrong");
    ring.fill();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ineighbor_alltoall(ring.out, 1, MPI_INT, ring.in, 1, MPI_INT, ring.cart, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ring.check("an exchange that was begun is wrong");
  }
  exchange_by_request(ring);
  if (frees) MPI_Comm_free(&ring.cart);
}

}  // namespace sessions
