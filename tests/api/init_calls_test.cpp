// SPDX-License-Identifier: BSD-3-Clause
// How often all ranks meet to make something, counted at the MPI: a rank that shares a core with
// others waits for a turn of each of them every time.
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/one_shot.hpp"
#include "support/oracle.hpp"
#include "support/weighted_ring.hpp"

namespace {

using namespace tonari::test;

class InitCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (world_size() < 3) GTEST_SKIP() << "a ring of other ranks";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  void TearDown() override {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }

  template <class Work>
  static Counts counted(Work work) {
    arm();
    const int code = work();
    const Counts counts = disarm();
    EXPECT_OK(code);
    return counts;
  }
  Counts make(tonari_neighborhood* near) const {
    const int last = world_size() - 1, here = world_rank(), left = here == 0 ? last : here - 1,
              right = here == last ? 0 : here + 1;
    const int sources[] = {left, right}, targets[] = {left, right};
    return counted([&] {
      return tonari_neighborhood_create_adjacent(comm, 2, sources, MPI_UNWEIGHTED, 2, targets,
                                                 MPI_UNWEIGHTED, MPI_INFO_NULL, near);
    });
  }
  Counts init(tonari_neighborhood near, tonari_request* request, MPI_Info info = MPI_INFO_NULL) {
    return counted([&] {
      return tonari_alltoall_init(out, 8, MPI_DOUBLE, in, 8, MPI_DOUBLE, near, info, request);
    });
  }

  const FreshWisdom wisdom{"0.02"};
  MPI_Comm comm = MPI_COMM_NULL;
  double out[16] = {}, in[16] = {};
};

TEST_F(InitCalls, TheFirstNeighborhoodOfACommunicator) {
  tonari_neighborhood first = TONARI_NEIGHBORHOOD_NULL, second = TONARI_NEIGHBORHOOD_NULL;
  const Counts fresh = make(&first), again = make(&second);
  EXPECT_EQ(fresh.setups, 1) << "one duplicate, and no communicator of the node: " << fresh.first;
  EXPECT_EQ(again.setups, 0) << again.first;
  EXPECT_EQ(again.collectives, 3) << "the arguments, the lists of all, and that it was made";
  EXPECT_EQ(again.sends, 0) << "nobody is asked about the graph";
  EXPECT_EQ(fresh.collectives, again.collectives + 4)
      << "that all are here; the duplicate's outcome and TONARI_NODES; where ranks run; what nodes "
         "can do, and the report";
  EXPECT_OK(tonari_neighborhood_free(&first));
  EXPECT_OK(tonari_neighborhood_free(&second));
}

// Each rank does it alone, for all: also what takes many steps of ranks that plan together.
TEST_F(InitCalls, PlanningAsksNobody) {
  const Info coloring{
      {"tonari_algorithm", "coloring"}, {"tonari_channel", "p2p-packed"}, {"tonari_tune", "off"}};
  tonari_neighborhood first = TONARI_NEIGHBORHOOD_NULL, second = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
  make(&first);
  init(first, &request, coloring);  // finds out about the machine
  EXPECT_OK(tonari_request_free(&request));
  make(&second);
  EXPECT_EQ(init(second, &request, coloring).collectives, 2)
      << "the arguments, and that it was made";
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&first));
  EXPECT_OK(tonari_neighborhood_free(&second));
}

TEST_F(InitCalls, RequestsThatAreRemembered) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  make(&near);
  tonari_request request = TONARI_REQUEST_NULL;
  const Info off{{"tonari_tune", "off"}}, packed{{"tonari_channel", "p2p-packed"}};
  init(near, &request, off);  // plans
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_EQ(init(near, &request, off).collectives, 2) << "the arguments, and that it was made";
  EXPECT_OK(tonari_request_free(&request));
  init(near, &request, packed);
  EXPECT_OK(tonari_request_free(&request));
  const Counts again = init(near, &request, packed);
  EXPECT_LE(again.collectives, 5) << "and what was remembered, in one";
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Whether a race has three candidates over shared memory or one: ranks meet, and tell each other
// where their memory is, as often.
TEST_F(InitCalls, CandidatesAreConnectedTogether) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL, second = TONARI_NEIGHBORHOOD_NULL;
  make(&near);
  tonari_request request = TONARI_REQUEST_NULL;
  init(near, &request);  // finds out about the machine
  EXPECT_OK(tonari_request_free(&request));
  const Info one{
      {"tonari_channel", "shared"}, {"tonari_algorithm", "linear"}, {"tonari_tune", "off"}};
  const Counts alone = init(near, &request, one);
  EXPECT_OK(tonari_request_free(&request));
  make(&second);
  const Counts race = init(second, &request);
  const std::string several = tonari_request_describe(request);
  EXPECT_NE(several.find("online"), std::string::npos) << several;
  EXPECT_LE(race.collectives, alone.collectives + 3)
      << "what is remembered, and twice that all are in the race\n"
      << several;
  EXPECT_EQ(race.sends, alone.sends) << several;
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
  EXPECT_OK(tonari_neighborhood_free(&second));
}

// All offsets up to three away in five dimensions.
std::vector<int> moore_in_five_dimensions() {
  std::vector<int> offsets;
  for (int i = 0; i < 7 * 7 * 7 * 7 * 7; ++i)
    for (int j = 0, rest = i; j < 5; ++j, rest /= 7) offsets.push_back(rest % 7 - 3);
  return offsets;
}

// The offsets are compared and copied. Nothing is planned, and no rank of a neighbor looked for.
TEST(InitCallsOnAGrid, MakingANeighborhoodTakesOneMeetingAndLittleMemory) {
  MPI_Comm cart = make_cart(torus_of_all(5));
  const std::vector<int> offsets = moore_in_five_dimensions();
  const int s = static_cast<int>(offsets.size() / 5);
  for (int round = 0; round < 3; ++round) {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const Live before = live();
    arm();
    const int code = tonari_neighborhood_create_cart(cart, s, offsets.data(), MPI_INFO_NULL, &near);
    const Counts counts = disarm();
    const Live after = live();
    ASSERT_OK(code);
    if (round > 0) {  // the first one duplicates the communicator
      EXPECT_EQ(counts.collectives, 1) << "the arguments";
      EXPECT_EQ(counts.setups, 0) << counts.first;
      EXPECT_LT(after.bytes - before.bytes, static_cast<long>(offsets.size()) + 16384)
          << "a byte for each coordinate";
    }
    int count = 0;
    EXPECT_OK(tonari_neighborhood_count(near, &count));
    EXPECT_EQ(count, s);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  MPI_Comm_free(&cart);
}

}  // namespace
