// What is created and freed again and again leaves nothing behind: no datatype, request, communicator, or memory.
#include "engine/counting.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

class Leaks : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(1);
    t.offsets = box(1, -2, 2);
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    Random random(2);
    out = regular_side(random, Style::vector, t.count(), 28), in = regular_side(random, Style::resized, t.count(), 28);
  }
  void TearDown() override { MPI_Comm_free(&cart); }

  tonari_neighborhood neighborhood() {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_EQ(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near), TONARI_SUCCESS) << tonari_last_error();
    return near;
  }
  void request(tonari_neighborhood near, int k) {
    static const char* const names[] = {"linear", "torus", "irecv", "torus-direct", "joint-basis"};
    const Info info{{"tonari_algorithm", names[k % 5]}, {"tonari_channel", k % 4 < 2 ? "p2p-typed" : "p2p-packed"}, {"tonari_tune", "off"}};
    tonari_request made = TONARI_REQUEST_NULL;
    ASSERT_EQ(init(Operation::alltoall, out, in, near, info, &made), TONARI_SUCCESS) << tonari_last_error();
    if (k % 3 == 0) {
      EXPECT_EQ(tonari_start(made), TONARI_SUCCESS);
      EXPECT_EQ(tonari_wait(made), TONARI_SUCCESS);
    }
    EXPECT_EQ(tonari_request_free(&made), TONARI_SUCCESS);
  }
  // step(k) some times to warm up and then many times more.
  template <class Step>
  void expect_nothing_left(int many, Step step) {
    for (int k = 0; k < std::min(many, 12); ++k) step(k);
    const Live before = live();
    for (int k = 0; k < many; ++k) step(k);
    const Live after = live();
    EXPECT_EQ(after.datatypes, before.datatypes);
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.communicators, before.communicators);
    EXPECT_LT(after.pieces - before.pieces, 20) << "pieces of memory, after " << many << " times";
  }

  int rank = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  Side out, in;
};

TEST_F(Leaks, TheCountersCount) {
  const Live before = live();
  void* volatile p = std::malloc(10);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  const Live between = live();
  EXPECT_EQ(between.datatypes, before.datatypes + 1);
  EXPECT_EQ(between.pieces, before.pieces + (counts_allocations() ? 1 : 0));
  std::free(p);
  MPI_Type_free(&type);
  EXPECT_EQ(live().datatypes, before.datatypes);
}

TEST_F(Leaks, RequestsMadeAndFreed) {
  tonari_neighborhood near = neighborhood();
  expect_nothing_left(cases(1000), [&](int k) { request(near, k); });
  tonari_neighborhood_free(&near);
}

TEST_F(Leaks, NeighborhoodsMadeAndFreed) {
  expect_nothing_left(cases(1000), [&](int k) {
    tonari_neighborhood near = neighborhood();
    if (k % 10 == 0) request(near, k / 10);
    tonari_neighborhood_free(&near);
  });
}

// Errors on the way must not keep anything either.
TEST_F(Leaks, FailedCalls) {
  tonari_neighborhood near = neighborhood();
  expect_nothing_left(cases(200), [&](int k) {
    const Info info{{"tonari_tune", "off"}, {"tonari_algorithm", k % 2 ? "quantum" : "torus"}};
    tonari_request made = TONARI_REQUEST_NULL;
    EXPECT_NE(tonari_alltoall_init(out.buffer(), 4, MPI_INT, out.buffer() + 4, 4, MPI_INT, near, info, &made), TONARI_SUCCESS);
    tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_NE(tonari_neighborhood_create_cart(cart, -1, nullptr, MPI_INFO_NULL, &none), TONARI_SUCCESS);
  });
  tonari_neighborhood_free(&near);
}

TEST_F(Leaks, RequestsThatOutliveTheirNeighborhoodFreeIt) {
  expect_nothing_left(cases(100), [&](int) {
    tonari_neighborhood near = neighborhood();
    const Info info{{"tonari_tune", "off"}, {"tonari_algorithm", "torus"}};
    tonari_request made = TONARI_REQUEST_NULL;
    ASSERT_EQ(init(Operation::alltoall, out, in, near, info, &made), TONARI_SUCCESS) << tonari_last_error();
    tonari_neighborhood_free(&near);
    EXPECT_EQ(tonari_request_free(&made), TONARI_SUCCESS);
  });
}

}  // namespace
