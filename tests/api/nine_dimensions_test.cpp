// Cartesian communicators of more dimensions than a grid of tonari's can have are graphs. What is
// sent towards -1 still arrives as the block from +1, also where both neighbors along a dimension
// are the same rank, which MPI's own collective on a distributed graph would get wrong.
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

class NineDimensions : public testing::TestWithParam<const char*> {};

TEST_P(NineDimensions, BlocksArriveByDirection) {
  constexpr int d = 9;
  const int ranks = world_size();
  int dims[d], periodic[d], rank = 0;
  std::fill_n(dims, d, 1), std::fill_n(periodic, d, 1);
  dims[0] = ranks;
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, d, dims, periodic, 0, &cart);
  MPI_Comm_rank(cart, &rank);
  const Info info{{"tonari_algorithm", GetParam()}, {"tonari_tune", "off"}};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_from_comm(cart, info, &near));
  MPI_Comm_free(&cart);
  int out[2 * d], in[2 * d];
  for (int i = 0; i < 2 * d; ++i) out[i] = 100 * rank + i, in[i] = -1;
  const int code = tonari_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, near);
  if (std::string(GetParam()) == "native") {
    EXPECT_EQ(code, TONARI_ERR_ALGORITHM) << "native cannot be right here";
  } else {
    ASSERT_OK(code);
    for (int j = 0; j < d; ++j) {
      const int before = j == 0 ? (rank + ranks - 1) % ranks : rank,
                after = j == 0 ? (rank + 1) % ranks : rank;
      EXPECT_EQ(in[2 * j], 100 * before + 2 * j + 1) << "dimension " << j;
      EXPECT_EQ(in[2 * j + 1], 100 * after + 2 * j) << "dimension " << j;
    }
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, NineDimensions,
                         testing::Values("linear", "irecv", "auto", "native"));

}  // namespace
