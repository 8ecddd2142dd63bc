// SPDX-License-Identifier: BSD-3-Clause
// Ranks in a ring, each with two neighbors: what each sends, and what must arrive.
#pragma once

#include "on_device/device_buffers.hpp"

namespace tonari::test {

class DeviceRing : public GraphExchange {
 protected:
  void SetUp() override { near = make(MPI_INFO_NULL); }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  static tonari_neighborhood make(MPI_Info info) {
    const int to[] = {behind(), before()}, from[] = {before(), behind()};
    tonari_neighborhood made = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                                  MPI_UNWEIGHTED, info, &made));
    return made;
  }
  static int behind() { return (world_rank() + 1) % world_size(); }
  static int before() { return (world_rank() + world_size() - 1) % world_size(); }

  // Block i of a round.
  static int sent(int round, int i, int rank = world_rank()) {
    return 100'000 * rank + 10 * round + i;
  }
  static void expect_received(const int* in, int round) {
    EXPECT_EQ(in[0], sent(round, 0, before())) << "round " << round;
    EXPECT_EQ(in[1], sent(round, 1, behind())) << "round " << round;
  }

  int prepare(const void* out, void* in, MPI_Info info, tonari_request* request) const {
    return tonari_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, near, info, request);
  }

  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

}  // namespace tonari::test
