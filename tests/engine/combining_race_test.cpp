// SPDX-License-Identifier: BSD-3-Clause
// Between nodes, by a clock that only messages move on: the race of a request and the trial of
// one-shot calls end with a plan that combines, also where the model puts it last.
#include "engine/comm/calibrate.hpp"
#include "engine/comm/shared_comm.hpp"
#include "select/cache.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;

// More starts than any race takes.
constexpr int enough = 330;

// What a rank sends takes a hundred thousandth of a second a message, and all else nothing.
class MessagesTakeTime {
 public:
  MessagesTakeTime() : clock_(now) { arm(); }
  ~MessagesTakeTime() { disarm(); }
  MessagesTakeTime(const MessagesTakeTime&) = delete;
  MessagesTakeTime& operator=(const MessagesTakeTime&) = delete;

 private:
  static double now() { return 1e-5 * static_cast<double>(counted().sends + counted().puts); }
  OtherClock clock_;
};

// Each look at it takes a hundred thousandth of a second, and all else nothing.
double ticking() {
  static double now = 0;
  return now += 1e-5;
}

class CombiningRace : public testing::Test {
 protected:
  CombiningRace() { Nodes::set("1"); }  // a node for each rank
  void SetUp() override {
    if (world_size() < 5) GTEST_SKIP() << "for at least five ranks";
    const bool cube = world_size() == 27;
    t = torus_of_all(cube ? 3 : 1);
    t.offsets = cube ? box(3, -1, 1) : std::vector<int>{1, 2, 3};
    straight = cube ? 26 : 3, combined = cube ? 6 : 2;
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    // Bytes are expensive, messages and turns are not: combining is predicted to be slower.
    machine.L = machine.o = machine.g = machine.core_switch = 1e-9, machine.G = 1e-7;
    remember_machine();
  }
  void TearDown() override {
    if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  }
  void remember_machine() const {
    const std::string key = tonari::machine_key(
        MPI_COMM_WORLD, tonari::SharedComm::of(MPI_COMM_WORLD)->nodes()->ranks_per_core);
    if (world_rank() == 0) {
      ASSERT_TRUE(
          tonari::CacheFile(tonari::cache_directory(), "machines").put(key, to_text(machine)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  tonari_neighborhood neighborhood(const char* tune) const {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const Info info{{"tonari_tune", tune}};
    EXPECT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
    return near;
  }
  // Messages of the exchange that a request has chosen, after so many starts.
  long messages(const char* tune, int starts) const {
    tonari_neighborhood near = neighborhood(tune);
    Buffers b = random_buffers(Operation::alltoall, t.count(), 8, 1);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(b.op, b.out, b.in, near, MPI_INFO_NULL, &request));
    for (int round = 0; round < starts; ++round) {
      b.prepare(rank, round);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(b.wrong(t, rank, round), "") << round;
    }
    tonari_request_info about{};
    EXPECT_OK(tonari_request_get_info(request, &about));
    SCOPED_TRACE(tonari_request_describe(request));
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_OK(tonari_neighborhood_free(&near));
    return about.messages;
  }
  // Messages of a one-shot call.
  long messages_at_once(const char* tune, int bytes) const {
    tonari_neighborhood near = neighborhood(tune);
    Buffers b = random_buffers(Operation::alltoall, t.count(), bytes, 1);
    long before = 0;
    for (int round = 0; round < 3; ++round) {  // the first one connects
      before = counted().sends;
      b.prepare(rank, round);
      EXPECT_OK(call(b.op, b.out, b.in, near));
      EXPECT_EQ(b.wrong(t, rank, round), "") << round;
    }
    const long sent = counted().sends - before;
    EXPECT_OK(tonari_neighborhood_free(&near));
    return sent;
  }

  const Nodes nodes;
  const FreshWisdom wisdom{"0.01"};
  tonari::LogGP machine;
  Topology t;
  int rank = 0, straight = 0, combined = 0;
  MPI_Comm cart = MPI_COMM_NULL;
};

TEST_F(CombiningRace, OfARequestEndsWithWhatSendsFewMessages) {
  const MessagesTakeTime clock;
  EXPECT_EQ(messages("model", 0), straight) << "the model puts combining last";
  EXPECT_EQ(messages("online", enough), combined);
}

TEST_F(CombiningRace, OfOneShotCallsEndsWithWhatSendsFewMessages) {
  const MessagesTakeTime clock;
  for (const int bytes : {8, 512}) {
    EXPECT_EQ(messages_at_once("model", bytes), straight) << "the model puts combining last";
    EXPECT_EQ(messages_at_once("online", bytes), combined) << bytes;
  }
}

// Then there is nothing to gain.
TEST_F(CombiningRace, OfOneShotCallsThatTakeEquallyLongLeavesThemStraight) {
  const OtherClock clock(ticking);
  arm();
  EXPECT_EQ(messages_at_once("online", 8), straight);
  disarm();
}

}  // namespace
