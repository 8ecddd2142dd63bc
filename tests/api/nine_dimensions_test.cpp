// SPDX-License-Identifier: BSD-3-Clause
// Cartesian communicators of more dimensions than a grid of tonari's can have are graphs. What is
// sent towards -1 still arrives as the block from +1, also where both neighbors along a dimension
// are the same rank, which MPI's own collective on a distributed graph would get wrong.
#include <tonari/group.h>

#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

constexpr int d = 9;

tonari_neighborhood make_near(MPI_Info info, int* rank) {
  int dims[d], periodic[d];
  std::fill_n(dims, d, 1), std::fill_n(periodic, d, 1);
  dims[0] = world_size();
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, d, dims, periodic, 0, &cart);
  MPI_Comm_rank(cart, rank);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(tonari_neighborhood_create_from_comm(cart, info, &near));
  MPI_Comm_free(&cart);
  return near;
}

void fill(int rank, int* out, int* in) {
  for (int i = 0; i < 2 * d; ++i) out[i] = 100 * rank + i, in[i] = -1;
}

void expect_by_direction(int rank, const int* in) {
  const int ranks = world_size();
  for (int j = 0; j < d; ++j) {
    const int before = j == 0 ? (rank + ranks - 1) % ranks : rank,
              after = j == 0 ? (rank + 1) % ranks : rank;
    EXPECT_EQ(in[2 * j], 100 * before + 2 * j + 1) << "dimension " << j;
    EXPECT_EQ(in[2 * j + 1], 100 * after + 2 * j) << "dimension " << j;
  }
}

class NineDimensions : public testing::TestWithParam<const char*> {};

TEST_P(NineDimensions, BlocksArriveByDirection) {
  int rank = 0, out[2 * d], in[2 * d];
  const Info info{{"tonari_algorithm", GetParam()}, {"tonari_tune", "off"}};
  tonari_neighborhood near = make_near(info, &rank);
  fill(rank, out, in);
  const int code = tonari_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, near);
  if (std::string(GetParam()) == "native") {
    EXPECT_EQ(code, TONARI_ERR_ALGORITHM) << "native cannot be right here";
  } else {
    ASSERT_OK(code);
    expect_by_direction(rank, in);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// A group joins the blocks of two ranks in the order of the sender, which is not the receiver's.
TEST(NineDimensionsGroup, BlocksArriveByDirection) {
  int rank = 0, out[2 * d], in[2 * d], more[2 * d];
  tonari_neighborhood near = make_near(MPI_INFO_NULL, &rank);
  fill(rank, out, in), fill(rank, out, more);
  EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
  for (int* to : {in, more})
    EXPECT_OK(tonari_alltoall_init(out, 1, MPI_INT, to, 1, MPI_INT, near, MPI_INFO_NULL, nullptr));
  EXPECT_OK(tonari_group_run(MPI_INFO_NULL));
  expect_by_direction(rank, in), expect_by_direction(rank, more);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, NineDimensions,
                         testing::Values("linear", "irecv", "auto", "native"));

}  // namespace
