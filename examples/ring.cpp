// SPDX-License-Identifier: BSD-3-Clause
// tonari.hpp: every rank of a ring learns the numbers of the ranks up to two to its left and right
// (allgather), while the four neighbors also get one number each of their own (alltoall); both
// exchanges run at the same time.
//
//     mpiexec -n 5 ring
#include <algorithm>
#include <cstdio>
#include <tonari/tonari.hpp>
#include <vector>

namespace {

MPI_Comm make_ring() {
  int ranks = 0, periodic = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  return ring;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

bool exchange(MPI_Comm ring) {
  const int me = rank_in(ring);
  const std::vector<int> offsets{-2, -1, 1, 2};
  const tonari::Neighborhood near(ring, offsets);

  const std::vector<int> mine{me};
  std::vector<int> theirs(4, -1);
  tonari::Request everyone = near.allgather_init(mine, theirs);

  const std::vector<double> out{me + 0.0, me + 0.25, me + 0.5, me + 0.75};
  std::vector<double> in(4, -1);
  tonari::Request each = near.alltoall_init(out, in);

  tonari::startall(everyone, each);
  tonari::waitall(everyone, each);

  bool right = theirs == near.sources();
  for (int i = 0; i < 4; ++i) right &= in[i] == near.sources()[i] + 0.25 * i;
  if (me == 0) std::printf("%s\n", each.describe().c_str());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm ring = make_ring();
  int wrong = 1;
  try {
    wrong = exchange(ring) ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, ring);
    if (rank_in(ring) == 0) std::printf("ring: %s\n", wrong ? "WRONG" : "all blocks right");
  } catch (const tonari::Failure& failure) {  // on all ranks
    std::fprintf(stderr, "ring: %s\n", failure.what());
  }
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return wrong;
}
