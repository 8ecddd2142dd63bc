// SPDX-License-Identifier: BSD-3-Clause
// The progress thread: exchanges complete while the program does something else, errors come back,
// and the thread is there only as long as it is asked for.
#include "engine/wait/progress.hpp"

#include "base/error.hpp"
#include "support/by_thread.hpp"
#include "support/counting.hpp"
#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;
using tonari::DrivenExchange, tonari::ProgressThread;

// ---- Without MPI

// Complete after so many tests.
class Slow final : public tonari::LeafExchange {
 public:
  explicit Slow(int tests, bool fails = false) : tests_(tests), fails_(fails) {}
  ~Slow() override { EXPECT_EQ(left_, 0) << "freed while it is driven"; }
  void start() override { left_ = tests_; }
  bool test() override {
    if (left_ > 0) --left_;
    if (left_ == 0 && fails_) tonari::fail(tonari::Errc::mpi, "it failed");
    return left_ == 0;
  }
  void wait() override { ADD_FAILURE() << "the thread tests"; }
  int messages() const override { return 1; }
  tonari::Bytes bytes() const override { return 2; }
  std::size_t scratch_bytes() const override { return 3; }

 private:
  int tests_, left_ = 0;  // not atomic: handed over
  bool fails_;
};

TEST(ProgressThread, DrivesSeveralAgainAndAgain) {
  const auto thread = std::make_shared<ProgressThread>();
  std::vector<std::unique_ptr<DrivenExchange>> all;
  for (int k = 0; k < 5; ++k)
    all.push_back(std::make_unique<DrivenExchange>(std::make_unique<Slow>(1 + 40 * k), thread));
  for (int round = 0; round < 200; ++round) {
    for (auto& exchange : all) exchange->start();
    for (std::size_t k = 0; k < all.size(); ++k) {
      DrivenExchange& exchange = *all[(k + static_cast<std::size_t>(round)) % all.size()];
      if (round % 2) exchange.wait();
      while (!exchange.test()) std::this_thread::yield();
    }
  }
  EXPECT_EQ(all[0]->messages(), 1);
  EXPECT_EQ(all[0]->bytes(), 2u);
  EXPECT_EQ(all[0]->scratch_bytes(), 3u);
}

TEST(ProgressThread, ErrorsComeBack) {
  const auto thread = std::make_shared<ProgressThread>();
  DrivenExchange good(std::make_unique<Slow>(50), thread),
      bad(std::make_unique<Slow>(20, true), thread);
  good.start(), bad.start();
  EXPECT_THROW(bad.wait(), tonari::Error);
  EXPECT_THROW(bad.test(), tonari::Error);
  good.wait();
}

// Slow says so otherwise.
TEST(ProgressThread, WhoeverGoesWaits) {
  const auto thread = std::make_shared<ProgressThread>();
  for (int k = 0; k < 50; ++k) {
    DrivenExchange exchange(std::make_unique<Slow>(30), thread);
    exchange.start();
  }
}

// ---- With MPI

class ProgressByThread : public testing::Test {
 protected:
  void SetUp() override {
    if (!several_threads_may_call_mpi()) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    t = torus_of_all(1);
    t.offsets = {1, 2, -2};
    const MPI_Comm cart = make_cart(t);
    near = make(cart, "calls");
    driven = make(cart, "thread");
    MPI_Comm comm = cart;
    MPI_Comm_free(&comm);
  }
  void TearDown() override {
    tonari_neighborhood_free(&near);
    tonari_neighborhood_free(&driven);
  }
  tonari_neighborhood make(MPI_Comm cart, const char* progress) {
    const Info info{
        {"tonari_progress", progress}, {"tonari_tune", "off"}, {"tonari_algorithm", "torus"}};
    tonari_neighborhood made = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &made));
    return made;
  }
  Topology t;
  int rank = world_rank();
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL, driven = TONARI_NEIGHBORHOOD_NULL;
};

// Each rank in turn waits for the others, in MPI, before it looks at its request; they wait for
// blocks that it has to forward.
TEST_F(ProgressByThread, BlocksAreForwardedWhileTheProgramIsElsewhere) {
  Buffers b = random_buffers(Operation::alltoall, t.count(), 48, 1);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(init(b.op, b.out, b.in, driven, MPI_INFO_NULL, &request));
  for (int round = 0; round < world_size(); ++round) {
    b.prepare(rank, round);
    EXPECT_OK(tonari_start(request));
    const int code = rank == round ? TONARI_SUCCESS : tonari_wait(request);
    EXPECT_OK(code);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int done = 0; !done;) EXPECT_OK(tonari_test(request, &done));
    EXPECT_EQ(b.wrong(t, rank, round), "");
  }
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(ProgressByThread, IsThereOnlyWhileItIsAskedFor) {
  const int before = threads();
  Buffers b = random_buffers(Operation::alltoall, t.count(), 48, 1),
          c = random_buffers(Operation::allgather, t.count(), 8, 2);
  tonari_request plain = TONARI_REQUEST_NULL, first = TONARI_REQUEST_NULL,
                 second = TONARI_REQUEST_NULL;
  ASSERT_OK(init(b.op, b.out, b.in, near, MPI_INFO_NULL, &plain));
  EXPECT_EQ(threads(), before);
  ASSERT_OK(init(b.op, b.out, b.in, driven, MPI_INFO_NULL, &first));
  ASSERT_OK(init(c.op, c.out, c.in, driven, MPI_INFO_NULL, &second));
  EXPECT_EQ(threads(), before + 1) << "one for both";
  EXPECT_OK(tonari_request_free(&first));
  EXPECT_EQ(threads(), before + 1);
  EXPECT_OK(tonari_request_free(&second));
  // the system lists it a little longer than it runs
  EXPECT_EQ(threads_left(before), before);
  EXPECT_OK(tonari_request_free(&plain));
}

TEST_F(ProgressByThread, StartToWaitAllocatesNothing) {
  Buffers b = random_buffers(Operation::alltoall, t.count(), 48, 1);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(init(b.op, b.out, b.in, driven, MPI_INFO_NULL, &request));
  for (int round = 0; round < 3; ++round) {
    b.prepare(rank, round);
    arm();
    const int codes = tonari_start(request) | tonari_wait(request);
    const Counts counts = disarm();
    EXPECT_OK(codes);
    EXPECT_EQ(counts.collectives, 0) << counts.first;
    EXPECT_EQ(counts.allocations, 0);
    EXPECT_EQ(b.wrong(t, rank, round), "");
  }
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(ProgressByThread, OneShotCallsToo) {
  std::vector<Buffers> all;
  std::vector<tonari_request> requests(4, TONARI_REQUEST_NULL);
  for (int k = 0; k < 4; ++k)
    all.push_back(
        random_buffers(k % 2 ? Operation::allgather : Operation::alltoallv, t.count(), 16, k));
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < 4; ++k) {
      all[k].prepare(rank, round);
      EXPECT_OK(icall(all[k].op, all[k].out, all[k].in, driven, &requests[k]));
    }
    EXPECT_OK(tonari_waitall(4, requests.data()));
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(all[k].wrong(t, rank, round), "");
      EXPECT_OK(tonari_request_free(&requests[k]));
    }
  }
}

// Nobody calls the library, nor MPI, between start and the moment at which all blocks are there.
TEST_F(ProgressByThread, EveryChannelProceedsWhileTheProgramComputes) {
  const std::pair<const char*, const char*> ways[] = {
      {"native", "auto"},          {"irecv", "auto"},    {"torus", "p2p-packed"},
      {"torus", "p2p-typed"},      {"torus", "shared"},  {"torus", "onesided"},
      {"linear", "p2p-typed"},     {"linear", "shared"}, {"linear", "onesided"},
      {"torus", "shared+onesided"}};
  for (const auto& [algorithm, channel] : ways) {
    SCOPED_TRACE(std::string(algorithm) + ", " + channel);
    Buffers b = random_buffers(Operation::alltoall, t.count(), 4800, 1);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(init(b.op, b.out, b.in, driven,
                   Info{{"tonari_algorithm", algorithm}, {"tonari_channel", channel}}, &request));
    for (int round = 0; round < 3; ++round) {
      b.prepare(rank, round);
      EXPECT_EQ(tonari_start(request), TONARI_SUCCESS);
      EXPECT_TRUE(comes_true([&] { return b.wrong(t, rank, round).empty(); }));
      EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS);
    }
    EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
  }
}

TEST_F(ProgressByThread, SoDoExchangesInPlace) {
  const int size = world_size(), each = 3000;
  std::vector<int> blocks(static_cast<std::size_t>(size * each)), counts(size, each);
  std::vector<MPI_Aint> places;
  for (int j = 0; j < size; ++j) places.push_back(MPI_Aint{j} * each);
  const auto value = [&](int from, int to, int round) { return (from * 100 + to) * 100 + round; };
  for (const bool general : {false, true}) {
    const Info info{{"tonari_progress", "thread"}};
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = general ? tonari_alltoallv_inplace_general_init(
                                   blocks.data(), counts.data(), places.data(), counts.data(),
                                   places.data(), MPI_INT, MPI_COMM_WORLD, info, &request)
                             : tonari_alltoall_inplace_init(blocks.data(), each, MPI_INT,
                                                            MPI_COMM_WORLD, info, &request);
    ASSERT_OK(code);
    for (int round = 0; round < 3; ++round) {
      const auto holds = [&] {
        for (int k = 0; k < size * each; ++k)
          if (blocks[static_cast<std::size_t>(k)] != value(k / each, rank, round)) return false;
        return true;
      };
      for (int k = 0; k < size * each; ++k)
        blocks[static_cast<std::size_t>(k)] = value(rank, k / each, round);
      EXPECT_EQ(tonari_start(request), TONARI_SUCCESS);
      EXPECT_TRUE(comes_true(holds)) << (general ? "general" : "symmetric");
      EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS);
    }
    EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
  }
}

TEST_F(ProgressByThread, OtherWordsAreAnError) {
  Buffers b = random_buffers(Operation::alltoall, t.count(), 48, 1);
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_EQ(init(b.op, b.out, b.in, near, Info{{"tonari_progress", "magic"}}, &request),
            TONARI_ERR_ARGUMENT);
  EXPECT_SAID("it must be calls or thread");
}

}  // namespace
