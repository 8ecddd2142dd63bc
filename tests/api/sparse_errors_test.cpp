// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges that are wrong on one rank, or not the same on all: every rank gets the same
// sentence, nothing hangs, and the next call works, whatever the ranks had begun.
#include <tonari/sparse.h>

#include <climits>

#include "support/ok.hpp"
#include "support/oracle.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

// Everybody sends to everybody, more than once.
class SparseErrors : public testing::TestWithParam<const char*> {
 protected:
  using Words = std::initializer_list<std::string>;
  struct Given {
    int sends = 2 * world_size();
    std::vector<int> destinations = std::vector<int>(static_cast<std::size_t>(sends));
    std::vector<MPI_Count> counts = std::vector<MPI_Count>(static_cast<std::size_t>(sends), 3);
    const int* list = destinations.data();
    const MPI_Count* lengths = counts.data();
    MPI_Datatype type = MPI_DOUBLE;
    std::vector<double> values = std::vector<double>(static_cast<std::size_t>(sends) * 3, 1.5);
    const void* buffer = values.data();
    std::string algorithm, timeout = "10";
    tonari_messages messages = TONARI_MESSAGES_NULL;
    tonari_messages* place = &messages;
    tonari_request request = TONARI_REQUEST_NULL;
    tonari_request* handle = &request;
  };
  const int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  bool in_flight = false;

  int call(Given& g) const {
    for (int i = 0; i < 2 * ranks; ++i)
      if (g.destinations[static_cast<std::size_t>(i)] == 0)
        g.destinations[static_cast<std::size_t>(i)] = i % ranks;
    if (g.algorithm.empty()) g.algorithm = GetParam();
    const Info info{{"tonari_algorithm", g.algorithm}, {"tonari_timeout", g.timeout}};
    if (!in_flight)
      return tonari_sparse_alltoallv(g.sends, g.list, g.lengths, nullptr, g.type, g.buffer,
                                     MPI_COMM_WORLD, info, g.place);
    const int code = tonari_sparse_ialltoallv(g.sends, g.list, g.lengths, nullptr, g.type, g.buffer,
                                              MPI_COMM_WORLD, info, g.place, g.handle);
    return code == TONARI_SUCCESS ? complete(g.request) : code;
  }
  static int complete(tonari_request& request) {
    const int code = tonari_wait(request);
    EXPECT_EQ(tonari_wait(request), code) << "it says so again";
    EXPECT_OK(tonari_request_free(&request));
    return code;
  }
  // Wrong on the last rank only.
  template <class Bend>
  void refuse(int code, Words words, Bend bend) {
    Given wrong;
    if (rank == last) bend(wrong);
    expect_everywhere(call(wrong), code, words);
    EXPECT_EQ(wrong.messages, TONARI_MESSAGES_NULL);
    Given right;
    ASSERT_OK(call(right));
    EXPECT_EQ(right.messages->count, 2 * ranks);
    EXPECT_EQ(right.messages->total, 6 * ranks);
    EXPECT_OK(tonari_messages_free(&right.messages));
  }
};

TEST_P(SparseErrors, ArgumentsOfOneRank) {
  const std::string me = "rank " + std::to_string(last);
  refuse(TONARI_ERR_ARGUMENT, {"`sends`", "-1", me}, [](Given& g) { g.sends = -1; });
  refuse(TONARI_ERR_ARGUMENT, {"`destinations[1]`", me, "ranks go from 0"},
         [&](Given& g) { g.destinations[1] = ranks; });
  refuse(TONARI_ERR_ARGUMENT, {"`destinations` is NULL", me}, [](Given& g) { g.list = nullptr; });
  refuse(TONARI_ERR_ARGUMENT, {"`sendcounts` is NULL", me}, [](Given& g) { g.lengths = nullptr; });
  refuse(TONARI_ERR_ARGUMENT, {"`sendcounts[0]` is -2", me}, [](Given& g) { g.counts[0] = -2; });
  refuse(TONARI_ERR_ARGUMENT, {"`sendbuf` is NULL", "message 0", me},
         [](Given& g) { g.buffer = nullptr; });
  refuse(TONARI_ERR_ARGUMENT, {"`type` is MPI_DATATYPE_NULL"},
         [](Given& g) { g.type = MPI_DATATYPE_NULL; });
  refuse(TONARI_ERR_ARGUMENT, {"`messages` is NULL"}, [](Given& g) { g.place = nullptr; });
  refuse(TONARI_ERR_OVERFLOW, {}, [](Given& g) { g.counts[1] = LLONG_MAX / 2; });
  refuse(TONARI_ERR_ALGORITHM, {"TONARI_SPARSE_ALGORITHM", "'nbxx'", "personalized"},
         [](Given& g) { g.algorithm = "nbxx"; });
  refuse(TONARI_ERR_ALGORITHM, {"store-and-forward/30", "dimensions only"},
         [](Given& g) { g.algorithm = "store-and-forward/30"; });
  refuse(TONARI_ERR_ARGUMENT, {"TONARI_TIMEOUT", "'soon'", "a positive number of seconds"},
         [](Given& g) { g.timeout = "soon"; });
}

// Those of calls in flight come at completion; methods of ranks that differ have no names then.
TEST_P(SparseErrors, InFlight) {
  in_flight = true;
  const std::string me = "rank " + std::to_string(last);
  if (std::string(GetParam()) == "store-and-forward/1") {
    Given given;
    expect_everywhere(call(given), TONARI_ERR_ALGORITHM,
                      {"store-and-forward/1", "tonari_sparse_alltoallv only"});
    return;
  }
  refuse(TONARI_ERR_ARGUMENT, {"`sends`", "-1", me}, [](Given& g) { g.sends = -1; });
  refuse(TONARI_ERR_ARGUMENT, {"`destinations[1]`", me, "ranks go from 0"},
         [&](Given& g) { g.destinations[1] = ranks; });
  refuse(TONARI_ERR_ARGUMENT, {"`messages` is NULL"}, [](Given& g) { g.place = nullptr; });
  refuse(TONARI_ERR_ARGUMENT, {"`request` is NULL"}, [](Given& g) { g.handle = nullptr; });
  if (ranks == 1) return;
  refuse(TONARI_ERR_MISMATCH, {"`type`", "bytes"}, [](Given& g) { g.type = MPI_FLOAT; });
  for (const char* other : {"pairwise", "nbx", "personalized", "auto"})
    if (std::string(other) != GetParam())
      refuse(TONARI_ERR_MISMATCH, {"tonari_algorithm", "TONARI_SPARSE_ALGORITHM", "all ranks"},
             [&](Given& g) { g.algorithm = other; });
}

TEST_P(SparseErrors, RanksThatDiffer) {
  if (ranks == 1) return;
  refuse(TONARI_ERR_MISMATCH, {"`type`", "bytes"}, [](Given& g) { g.type = MPI_FLOAT; });
  for (const char* other : {"pairwise", "nbx", "personalized", "store-and-forward/1", "auto"})
    if (std::string(other) != GetParam())
      refuse(TONARI_ERR_MISMATCH, {"tonari_algorithm", other, GetParam()},
             [&](Given& g) { g.algorithm = other; });
}

INSTANTIATE_TEST_SUITE_P(All, SparseErrors,
                         testing::Values("auto", "pairwise", "nbx", "personalized",
                                         "store-and-forward/1"));

TEST(SparseNeighborhoodErrors, OfDestinations) {
  const int last = world_size() - 1, to = world_rank() == last ? world_size() : 0;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const auto create = [&](int count, const int* list, MPI_Info info) {
    return tonari_neighborhood_create_from_destinations(MPI_COMM_WORLD, count, list, info, &near);
  };
  expect_everywhere(create(1, &to, MPI_INFO_NULL), TONARI_ERR_ARGUMENT,
                    {"destination 0 of rank " + std::to_string(last)});
  expect_everywhere(create(1, world_rank() == last ? nullptr : &last, MPI_INFO_NULL),
                    TONARI_ERR_ARGUMENT, {"`destinations` is NULL"});
  expect_everywhere(create(1, &last, Info{{"cdag_exact_byte_communications", "true"}}),
                    TONARI_ERR_ARGUMENT, {"weights"});
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  EXPECT_OK(create(1, &last, MPI_INFO_NULL));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST(SparseArgumentErrors, WithoutACommunicator) {
  tonari_messages got = TONARI_MESSAGES_NULL;
  EXPECT_EQ(tonari_sparse_alltoallv(0, nullptr, nullptr, nullptr, MPI_INT, nullptr, MPI_COMM_NULL,
                                    MPI_INFO_NULL, &got),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_messages_free(nullptr), TONARI_ERR_ARGUMENT);
}

}  // namespace
