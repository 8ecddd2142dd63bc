// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of vectors as requests: several in flight, mixed with others; freed vectors;
// one-shot calls; what is left of many vectors.
#include <tonari/grid.h>

#include "memory/held.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/same_error.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

constexpr int size_of_part = 6;

struct RingVector {
  explicit RingVector(const std::string& route)
      : s(ring(size_of_part, 2)), vector(make_vector(s, route)) {}
  ~RingVector() {
    if (vector) must(tonari_vector_free(&vector));
  }
  RingVector(const RingVector&) = delete;
  RingVector& operator=(const RingVector&) = delete;

  tonari_request forward(const char* tune = "off") {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_vector_forward_init(vector, nullptr, x, ghosts, Info{{"tonari_tune", tune}},
                                    &request));
    return request;
  }
  tonari_request reverse(const char* tune = "off") {
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_vector_reverse_init(vector, nullptr, MPI_SUM, parts, sums,
                                    Info{{"tonari_tune", tune}}, &request));
    return request;
  }
  void fill(int round) {
    for (int i = 0; i < size_of_part; ++i) x[i] = value(s.mine().first + i, round), sums[i] = 0;
    for (int k = 0; k < 3; ++k) ghosts[k] = -1, parts[k] = 1000 * world_rank() + 10 * k + round;
  }
  static double value(std::int64_t index, int round) {
    return static_cast<double>(100 * index + round);
  }
  bool forward_holds(int round) const {
    for (std::size_t k = 0; k < 3; ++k)
      if (ghosts[k] != value(s.my_needs()[k], round)) return false;
    return true;
  }
  bool reverse_holds(int round) const {
    const int ranks = world_size(), left = (world_rank() + ranks - 1) % ranks,
              right = (world_rank() + 1) % ranks;
    double wanted[size_of_part] = {};
    wanted[0] = 2.0 * (1000 * left + round) + 30;      // its right is this rank: places 1 and 2
    wanted[size_of_part - 1] += 1000 * right + round;  // place 0
    return std::equal(wanted, wanted + size_of_part, sums);
  }

  Sharing s;
  tonari_vector vector;
  double x[size_of_part] = {}, sums[size_of_part] = {}, ghosts[3] = {}, parts[3] = {};
};

std::string second_route() { return world_size() >= 4 ? "store-and-forward/2" : "direct"; }

TEST(VectorRequests, SeveralInFlight) {
  RingVector a("direct"), b(second_route());
  tonari_request requests[] = {a.forward(), b.reverse(), b.forward(), a.reverse()};
  for (int round = 0; round < 4; ++round) {
    a.fill(round), b.fill(round);
    if (world_rank() % 2) std::swap(requests[0], requests[2]);  // in any order
    must(tonari_startall(4, requests));
    if (round % 2)
      must(tonari_waitall(4, requests));
    else
      for (int k = 4; k-- > 0;) must(complete(requests[k], (world_rank() + k) % 2 == 0));
    EXPECT_TRUE(a.forward_holds(round) && a.reverse_holds(round) && b.forward_holds(round) &&
                b.reverse_holds(round))
        << "round " << round;
  }
  for (tonari_request& request : requests) must(tonari_request_free(&request));
}

// While one is under way, others are made, and one-shot calls run.
TEST(VectorRequests, CallsBetweenStartAndWait) {
  RingVector a(second_route()), b("direct");
  a.fill(1), b.fill(2);
  tonari_request first = a.forward();
  must(tonari_start(first));
  must(tonari_vector_forward(b.vector, nullptr, b.x, b.ghosts));
  tonari_request second = b.reverse();
  must(tonari_start(second));
  {
    RingVector c("direct");
  }
  must(tonari_wait(second));
  must(tonari_wait(first));
  EXPECT_TRUE(a.forward_holds(1) && b.forward_holds(2) && b.reverse_holds(2));
  must(tonari_request_free(&first));
  must(tonari_request_free(&second));
}

TEST(VectorRequests, OutliveTheVector) {
  for (const std::string& route : routes_of_case(1)) {
    RingVector a(route);
    tonari_request requests[] = {a.forward(), a.reverse()};
    must(tonari_vector_free(&a.vector));
    EXPECT_EQ(a.vector, TONARI_VECTOR_NULL);
    for (int round = 0; round < 2; ++round) {
      a.fill(round);
      must(tonari_startall(2, requests));
      must(tonari_waitall(2, requests));
      EXPECT_TRUE(a.forward_holds(round) && a.reverse_holds(round)) << route;
    }
    for (tonari_request& request : requests) must(tonari_request_free(&request));
  }
}

// Each hop chooses for itself, while others do; more starts than any choice takes.
TEST(VectorRequests, ChooseByTheirStarts) {
  for (const std::string& route : routes_of_case(2)) {
    const FreshWisdom wisdom("0.02");
    RingVector a(route), b("direct");
    tonari_request requests[] = {a.forward("online"), b.reverse("online")};
    const int starts = crowded() ? 40 : 330;
    for (int round = 0; round < starts; ++round) {
      a.fill(round), b.fill(round);
      if (round == 2 && world_size() > 1) {
        EXPECT_CONTAINS(tonari_request_describe(requests[1]), "tuning online, pass 1 of at most 6");
      }
      const bool turned = (world_rank() + round) % 2;
      must(tonari_start(requests[turned])), must(tonari_start(requests[!turned]));
      must(tonari_waitall(2, requests));
      ASSERT_TRUE(a.forward_holds(round) && b.reverse_holds(round)) << route << ", " << round;
    }
    tonari_request_info about;
    for (tonari_request& request : requests) {
      must(tonari_request_get_info(request, &about));
      if (world_size() > 1 && starts == 330) {
        EXPECT_STREQ(about.reason, "online");
        EXPECT_GT(about.measured_seconds, 0);
        EXPECT_NE(about.lost_seconds, 0);
        EXPECT_CONTAINS(tonari_request_describe(request), "tuned online in");
      }
      must(tonari_request_free(&request));
    }
  }
}

// Also while they choose.
TEST(VectorRequests, ChooseWithOtherArrays) {
  const FreshWisdom wisdom("0.02");
  RingVector a("direct");
  tonari_request request = a.forward("online");
  double x[size_of_part] = {}, ghosts[3] = {};
  for (int round = 0; round < 60; ++round) {
    a.fill(round);
    const bool other = round % 3 > 0;
    std::copy_n(a.x, size_of_part, x);
    must(other ? tonari_start_with(request, x, ghosts) : tonari_start_with(request, a.x, a.ghosts));
    must(tonari_wait(request));
    if (other) std::copy_n(ghosts, 3, a.ghosts);
    ASSERT_TRUE(a.forward_holds(round)) << round;
  }
  must(tonari_request_free(&request));
}

// A thread drives it, so nobody knows how long it took: it is measured at init.
TEST(VectorRequests, DrivenByAThreadDoNotChooseByStarts) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (world_size() == 1 || provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs threads";
  const FreshWisdom wisdom("0.02");
  RingVector a("direct");
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_vector_forward_init(a.vector, nullptr, a.x, a.ghosts,
                                  Info{{"tonari_progress", "thread"}}, &request));
  tonari_request_info about;
  must(tonari_request_get_info(request, &about));
  EXPECT_STREQ(about.reason, "measured");
  must(tonari_request_free(&request));
}

TEST(VectorRequests, StartedTwice) {
  RingVector a("direct");
  a.fill(0);
  tonari_request request = a.forward();
  must(tonari_start(request));
  expect_everywhere(tonari_start(request), TONARI_ERR_ACTIVE, {"start"});
  must(tonari_wait(request));
  EXPECT_TRUE(a.forward_holds(0));
  EXPECT_CONTAINS(tonari_request_describe(request), "route direct");
  must(tonari_request_free(&request));
}

// The exchange inside leaves it to the request, whose init is what has to pay.
TEST(VectorRequests, TellOnceWhenTheyHavePaid) {
  if (world_size() == 1) GTEST_SKIP() << "nothing is measured";
  RingVector a("direct");
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_vector_forward_init(a.vector, nullptr, a.x, a.ghosts,
                                  Info{{"tonari_tune", "measure"}}, &request));
  const std::string said = tonari_request_describe(request);
  EXPECT_CONTAINS(said, "break-even: ");
  EXPECT_EQ(said.find("break-even: "), said.rfind("break-even: ")) << said;
  must(tonari_request_free(&request));
}

// One-shot calls with more kinds of values than are kept, from buffers that move.
TEST(VectorRequests, OneShotCallsOfManyKinds) {
  if (very_slow()) GTEST_SKIP() << "what is kept does not depend on the number of ranks";
  RingVector a(second_route());
  for (int round = 0; round < 2; ++round)
    for (int components = 1; components <= 11; ++components) {
      const auto wide = static_cast<std::size_t>(components);
      std::vector<int> x(size_of_part * wide), ghosts(3 * wide);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>(a.s.mine().first) * components + static_cast<int>(i) + round;
      tonari_vector_values values{};
      values.type = MPI_INT, values.components = components;
      must(tonari_vector_forward(a.vector, &values, x.data(), ghosts.data()));
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < wide; ++c)
          EXPECT_EQ(ghosts[k * wide + c],
                    static_cast<int>(a.s.my_needs()[k]) * components + static_cast<int>(c) + round);
    }
}

// The second of two like calls makes nothing new.
TEST(VectorRequests, OneShotCallsAreKept) {
  RingVector a(second_route());
  must(tonari_vector_forward(a.vector, nullptr, a.x, a.ghosts));
  a.fill(3);
  double elsewhere[3];
  arm();
  const int code = tonari_vector_forward(a.vector, nullptr, a.x, elsewhere);
  const Counts counts = disarm();
  must(code);
  EXPECT_EQ(counts.setups, 0) << counts.first;
  std::copy_n(elsewhere, 3, a.ghosts);
  EXPECT_TRUE(a.forward_holds(3));
}

// Owned values and ghosts in any combination, and nothing is allocated for pairs used before.
TEST(VectorRequests, StartWithOtherArrays) {
  RingVector a(second_route()), b("direct");
  tonari_request fill = a.forward();
  for (int round = 0; round < 9; ++round) {
    a.fill(round), b.fill(round);
    RingVector &from = round % 2 ? a : b, &to = round % 3 ? a : b;
    arm();
    const int code = tonari_start_with(fill, from.x, to.ghosts) | tonari_wait(fill);
    const Counts counts = disarm();
    must(code);
    EXPECT_TRUE(to.forward_holds(round));
    if (round >= 6) {
      EXPECT_EQ(counts.allocations + counts.setups, 0) << counts.first;
    }
  }
  EXPECT_EQ(tonari_start_with(fill, a.x, a.x), TONARI_ERR_BUFFERS);
  EXPECT_EQ(tonari_start_with(fill, nullptr, a.ghosts), TONARI_ERR_ARGUMENT);
  EXPECT_NE(std::string(tonari_last_error()).find("`sendbuf` is NULL"), std::string::npos);
  void* const arrays[] = {a.x, a.ghosts};
  EXPECT_EQ(tonari_grid_start_with(fill, arrays), TONARI_ERR_ARGUMENT);
  must(tonari_request_free(&fill));

  tonari_request add = a.reverse();
  for (int round = 0; round < 4; ++round) {
    a.fill(round), b.fill(round);
    RingVector &from = round % 2 ? a : b, &to = round % 3 ? a : b;
    must(tonari_start_with(add, from.parts, to.sums));
    must(tonari_wait(add));
    EXPECT_TRUE(to.reverse_holds(round));
  }
  must(tonari_request_free(&add));
}

TEST(VectorRequests, AThreadDrivesThem) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  RingVector a(second_route());
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_vector_forward_init(a.vector, nullptr, a.x, a.ghosts,
                                  Info{{"tonari_tune", "off"}, {"tonari_progress", "thread"}},
                                  &request));
  for (int round = 0; round < 3; ++round) {
    a.fill(round);
    run(request, round == 1);
    EXPECT_TRUE(a.forward_holds(round));
  }
  must(tonari_request_free(&request));
}

// Both MPIs give up after some thousands of communicators.
TEST(VectorRequests, ManyVectorsLeaveNothing) {
  if (very_slow()) GTEST_SKIP() << "what is left does not depend on the number of ranks";
  const auto some = [&](int many) {
    for (int k = 0; k < many; ++k) {
      RingVector a(k % 2 ? "direct" : second_route());
      a.fill(k);
      tonari_request requests[] = {a.forward(), a.reverse()};
      must(tonari_startall(2, requests));
      must(tonari_waitall(2, requests));
      must(tonari_vector_forward(a.vector, nullptr, a.x, a.ghosts));
      EXPECT_TRUE(a.forward_holds(k) && a.reverse_holds(k));
      for (tonari_request& request : requests) must(tonari_request_free(&request));
    }
  };
  some(4);  // the MPI has what it makes for its first messages
  const Held before = held();
  const Live objects = live();
  some(crowded() ? 6 : world_size() <= 2 ? 400 : 50);
  EXPECT_EQ(held(), before);
  EXPECT_EQ(live().communicators, objects.communicators);
  EXPECT_EQ(live().datatypes, objects.datatypes);
  EXPECT_EQ(live().requests, objects.requests);
  EXPECT_LT(live().objects, objects.objects + 6);
}

}  // namespace
