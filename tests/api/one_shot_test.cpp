// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls: they deliver, blocking or not, with the same arguments again, with others, with
// datatypes that are gone, several in flight; and wrong ones fail on all ranks alike.
#include <cstring>

#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;

class OneShot : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(2);
    t.periods = {1, 0};
    t.offsets = box(2, -1, 1);
    const Info info{{"tonari_tune", "model"}};
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
  }
  void TearDown() override {
    EXPECT_OK(tonari_neighborhood_free(&near));
    MPI_Comm_free(&cart);
  }
  void blocking(Buffers& b, int round) {
    b.prepare(rank, round);
    EXPECT_OK(call(b.op, b.out, b.in, near));
    EXPECT_EQ(b.wrong(t, rank, round), "") << name(b.op) << " round " << round;
  }
  tonari_request begin(Buffers& b) {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(icall(b.op, b.out, b.in, near, &request));
    return request;
  }
  void finish(tonari_request& request) {
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
  }

  int rank = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(OneShot, AllSixDeliver) {
  for (Operation op : all_operations) {
    Buffers b = random_buffers(op, t.count(), 24, 1);
    for (int round = 0; round < 3; ++round) blocking(b, round);
    for (int round = 3; round < 5; ++round) {
      b.prepare(rank, round);
      tonari_request request = begin(b);
      for (int done = 0; round == 4 && !done;) EXPECT_OK(tonari_test(request, &done));
      finish(request);
      EXPECT_EQ(b.wrong(t, rank, round), "") << name(op) << " round " << round;
    }
  }
}

TEST_F(OneShot, MoreArgumentsThanAreKept) {
  std::vector<Buffers> all;
  for (int k = 0; k < 11; ++k)
    all.push_back(random_buffers(all_operations[k % 6], t.count(), 8 + 4 * k, k));
  for (int round = 0; round < 2; ++round)
    for (Buffers& b : all) blocking(b, round);
}

TEST_F(OneShot, ManyInFlight) {
  std::vector<Buffers> all;
  std::vector<tonari_request> requests;
  for (int k = 0; k < 11; ++k)
    all.push_back(random_buffers(all_operations[k % 6], t.count(), 16, k));
  for (int round = 0; round < 2; ++round) {
    for (Buffers& b : all) b.prepare(rank, round), requests.push_back(begin(b));
    EXPECT_OK(tonari_waitall(static_cast<int>(requests.size()), requests.data()));
    for (Buffers& b : all) EXPECT_EQ(b.wrong(t, rank, round), "");
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
    requests.clear();
  }
}

// Ranks complete and free them in different orders, so what is idle differs between ranks. Both
// write the same bytes, which linear does once each.
TEST_F(OneShot, TheSameArgumentsInFlight) {
  const Info info{{"tonari_algorithm", "linear"}, {"tonari_tune", "off"}};
  EXPECT_OK(tonari_neighborhood_free(&near));
  ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
  Buffers b = random_buffers(Operation::alltoallv, t.count(), 32, 5);
  for (int round = 0; round < 4; ++round) {
    b.prepare(rank, round);
    tonari_request pair[] = {begin(b), begin(b)};
    EXPECT_OK(tonari_waitall(2, pair));
    EXPECT_EQ(b.wrong(t, rank, round), "");
    const int kept = (rank + round) % 2;
    EXPECT_OK(tonari_request_free(&pair[1 - kept]));
    blocking(b, round + 10);
    EXPECT_OK(tonari_request_free(&pair[kept]));
  }
}

// MPIs give the handle of a freed type to the next one.
TEST_F(OneShot, ATypeThatGotTheHandleOfAnother) {
  const int n = t.count();
  std::vector<int> out(4 * n), in(4 * n), ones(n, 1);
  std::vector<MPI_Aint> places;
  for (int i = 0; i < n; ++i) places.push_back(16 * i);
  std::vector<MPI_Datatype> types(n);
  for (int stride : {1, 2, 3, 1}) {
    for (int i = 0; i < 4 * n; ++i) out[i] = 1000 * rank + i, in[i] = -1;
    MPI_Datatype type;
    MPI_Type_vector(2, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::fill(types.begin(), types.end(), type);
    EXPECT_OK(tonari_alltoallw(out.data(), ones.data(), places.data(), types.data(), in.data(),
                               ones.data(), places.data(), types.data(), near));
    MPI_Type_free(&type);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < 4; ++k) {
        const bool comes = t.source(rank, i) >= 0 && (k == 0 || k == stride);
        EXPECT_EQ(in[4 * i + k], comes ? 1000 * t.source(rank, i) + 4 * i + k : -1)
            << "stride " << stride << " block " << i;
      }
  }
}

TEST_F(OneShot, SizesThatDifferBetweenRanks) {
  const int n = t.count();
  std::vector<int> sizes_out(n), sizes_in(n);
  const auto size = [](int from, int to) { return 4 * ((3 * from + to) % 4); };
  for (int i = 0; i < n; ++i) {
    sizes_out[i] = size(rank, std::max(0, t.target(rank, i)));
    sizes_in[i] = size(std::max(0, t.source(rank, i)), rank);
  }
  Random random(9);
  Buffers b{Operation::alltoallw, w_side(random, sizes_out), w_side(random, sizes_in), {}};
  for (int round = 0; round < 3; ++round) blocking(b, round);
}

TEST_F(OneShot, NothingIsMeasured) {
  for (const char* tune : {"auto", "measure", "online"})
    for (const char* channel : {"auto", "p2p-packed"}) {
      const Info info{{"tonari_tune", tune}, {"tonari_channel", channel}};
      tonari_neighborhood other = TONARI_NEIGHBORHOOD_NULL;
      Buffers b = random_buffers(Operation::alltoall, t.count(), 20, 3);
      ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &other));
      tonari_request request = TONARI_REQUEST_NULL;
      b.prepare(rank, 0);
      ASSERT_OK(icall(b.op, b.out, b.in, other, &request));
      tonari_request_info about;
      EXPECT_OK(tonari_request_get_info(request, &about));
      const std::string reason = about.reason;
      EXPECT_TRUE(*channel == 'a' ? reason == "fixed rule"
                                  : reason == "model" || reason == "wisdom")
          << reason;
      EXPECT_EQ(about.measured_seconds, 0);
      finish(request);
      EXPECT_EQ(b.wrong(t, rank, 0), "");
      EXPECT_OK(tonari_neighborhood_free(&other));
    }
}

TEST_F(OneShot, ARequestOutlivesItsNeighborhood) {
  Buffers b = random_buffers(Operation::allgatherv, t.count(), 40, 4);
  b.prepare(rank, 1);
  tonari_request request = begin(b);
  EXPECT_OK(tonari_neighborhood_free(&near));
  finish(request);
  EXPECT_EQ(b.wrong(t, rank, 1), "");
}

TEST_F(OneShot, ARequestRunsOnce) {
  Buffers b = random_buffers(Operation::alltoall, t.count(), 8, 4);
  b.prepare(rank, 0);
  tonari_request request = begin(b);
  EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
  EXPECT_OK(tonari_wait(request));
  EXPECT_OK(tonari_wait(request));
  EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("one-shot");
  EXPECT_EQ(tonari_startall(1, &request), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_request_free(&request));
}

class OneShotErrors : public OneShot {};

TEST_F(OneShotErrors, OneRankIsWrong) {
  Buffers b = random_buffers(Operation::alltoall, t.count(), 8, 4);
  blocking(b, 0);
  const int wrong = world_size() - 1, count = b.out.counts[0];
  if (rank == wrong) b.out.counts[0] = -1;
  const bool hears = rank == wrong || exchanges_with(near, wrong);
  EXPECT_EQ(call(b.op, b.out, b.in, near), hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
  if (hears) {
    EXPECT_NE(std::string(tonari_last_error()).find("`sendcount` is -1"), std::string::npos)
        << tonari_last_error();
  }
  b.out.counts[0] = count;

  tonari_request request = TONARI_REQUEST_NULL;
  const int code = icall(b.op, b.out, b.in, near, rank == wrong ? nullptr : &request);
  EXPECT_TRUE(rank != wrong || code == TONARI_ERR_ARGUMENT) << code;
  EXPECT_EQ(code ? code : tonari_wait(request), hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
  EXPECT_OK(tonari_request_free(&request));
  blocking(b, 1);  // nothing is broken
}

TEST_F(OneShotErrors, SizesThatDoNotMatch) {
  if (world_size() < 2) GTEST_SKIP() << "for at least two ranks";
  Topology ring = torus_of_all(1);
  ring.offsets = {1};
  MPI_Comm line = make_cart(ring);
  tonari_neighborhood next = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_cart(line, 1, ring.offsets.data(), MPI_INFO_NULL, &next));
  int out[4] = {}, in[4] = {};
  const int first = tonari_alltoall(out, rank == 0 ? 3 : 2, MPI_INT, in, 2, MPI_INT, next);
  EXPECT_TRUE(rank != 1 || first == TONARI_ERR_MISMATCH) << first;
  std::string sentence = first ? tonari_last_error() : "";
  MPI_Barrier(MPI_COMM_WORLD);
  // with more than two ranks no edge leads back to rank 0: it may hear in its next call
  const int second = tonari_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, next);
  EXPECT_TRUE(rank == 0 || second == TONARI_SUCCESS) << second;
  if (second) sentence = tonari_last_error();
  EXPECT_EQ(first + second, rank <= 1 ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
  EXPECT_TRUE(rank > 1 || sentence.find("12 bytes at the sender and 8") != std::string::npos)
      << sentence;
  tonari_neighborhood_free(&next);
  MPI_Comm_free(&line);
}

TEST_F(OneShotErrors, OneRankMakesARequestInstead) {
  if (world_size() < 2) GTEST_SKIP() << "for at least two ranks";
  Buffers b = random_buffers(Operation::alltoall, t.count(), 8, 4);
  tonari_request request = TONARI_REQUEST_NULL;
  const int code = rank == 0 ? init(b.op, b.out, b.in, near, MPI_INFO_NULL, &request)
                             : call(b.op, b.out, b.in, near);
  EXPECT_EQ(code, TONARI_ERR_MISMATCH);
  EXPECT_SAID("one-shot");
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
}

TEST_F(OneShotErrors, ANullNeighborhood) {
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_EQ(tonari_alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, TONARI_NEIGHBORHOOD_NULL),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_ialltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, TONARI_NEIGHBORHOOD_NULL,
                             &request),
            TONARI_ERR_ARGUMENT);
}

}  // namespace
