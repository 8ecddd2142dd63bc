// SPDX-License-Identifier: BSD-3-Clause
// MPI's own collectives on an MPI that has no persistent ones: this program has
// src/channels/native/native.cpp compiled as for such an MPI.
#include "channels/native/native.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// Two requests on one neighborhood; the odd ranks start them in the other order. What is started on
// one communicator matches in the order of the calls.
TEST(NativeRequests, MayBeStartedInAnyOrder) {
  ASSERT_FALSE(tonari::has_persistent_neighborhood_collectives());
  constexpr int length = 100;
  const int left = (world_rank() + world_size() - 1) % world_size(),
            right = (world_rank() + 1) % world_size();
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  const auto value = [](int rank, int which, int round, int k) {
    return ((rank * 2 + which) * 50 + round) * length + k;
  };
  std::vector<int> from[2], to[2];
  tonari_request requests[2] = {};
  const Info info{{"tonari_algorithm", "native"}};
  for (int which = 0; which < 2; ++which) {
    from[which].resize(length), to[which].resize(length);
    ASSERT_OK(tonari_alltoall_init(from[which].data(), length, MPI_INT, to[which].data(), length,
                                   MPI_INT, near, info, &requests[which]));
  }
  int wrong = 0;
  for (int round = 0; round < 50; ++round) {
    for (int which = 0; which < 2; ++which)
      for (int k = 0; k < length; ++k)
        from[which][k] = value(world_rank(), which, round, k), to[which][k] = -1;
    const int first = world_rank() % 2;
    ASSERT_OK(tonari_start(requests[first]));
    ASSERT_OK(tonari_start(requests[1 - first]));
    ASSERT_OK(tonari_waitall(2, requests));
    for (int which = 0; which < 2; ++which)
      for (int k = 0; k < length; ++k) wrong += to[which][k] != value(left, which, round, k);
  }
  EXPECT_EQ(wrong, 0) << "of " << 2 * 50 * length << " values";
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
