// SPDX-License-Identifier: BSD-3-Clause
// Every level of persistence does more ahead of time: what one-shot calls and inits then still ask
// all ranks is counted at the MPI.
#include "support/counting.hpp"
#include "support/one_shot.hpp"
#include "support/weighted_ring.hpp"

namespace {

using namespace tonari::test;

class Levels : public testing::Test {
 protected:
  void TearDown() override { tonari_neighborhood_free(&near); }
  void make(const char* exact, const char* fixed, const char* channel = "p2p-packed") {
    const Info info{{"cdag_exact_byte_communications", exact},
                    {"cdag_static_buffers", fixed},
                    {"tonari_tune", "model"},
                    {"tonari_channel", channel}};
    near = ring.make(info);
  }
  template <class Work>
  static Counts counted(Work work) {
    arm();
    const int code = work();
    const Counts counts = disarm();
    EXPECT_OK(code);
    return counts;
  }
  Counts one_shot(WeightedRing::Data& d, int round) {
    ring.fill(d, round);
    const Counts counts = counted([&] { return alltoallv(d, near); });
    ring.expect(d, round);
    return counts;
  }

  // Three blocks of a derived datatype each way, twice: the second call asks nobody.
  void expect_datatypes_are_recognized(const std::vector<MPI_Aint>& places) {
    std::vector<int> out(24), in(24, -1), ones(3, 1);
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    const std::vector<MPI_Datatype> types(3, type);
    const auto call = [&] {
      return tonari_alltoallw(out.data(), ones.data(), places.data(), types.data(), in.data(),
                              ones.data(), places.data(), types.data(), near);
    };
    counted(call);
    const Counts again = counted(call);
    EXPECT_EQ(again.collectives, 0) << again.first;
    EXPECT_EQ(again.setups, 0) << again.first;
    EXPECT_EQ(again.allocations, 0);
    MPI_Type_free(&type);
  }

  WeightedRing ring;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(Levels, Topology) {
  make("false", "false");
  auto d = ring.data(0), e = ring.data(0);
  const Counts first = one_shot(d, 0), again = one_shot(d, 1), other = one_shot(e, 2);
  EXPECT_EQ(again.collectives, 1) << "to agree on using the exchange again";
  EXPECT_EQ(again.setups, 0) << again.first;
  EXPECT_LT(other.collectives, first.collectives) << "the choice is remembered";
  EXPECT_GT(other.collectives, 2) << "sizes are exchanged";
}

TEST_F(Levels, Sizes) {
  make("true", "false");
  auto d = ring.data(0), e = ring.data(0);
  const Counts first = one_shot(d, 0), again = one_shot(d, 1), other = one_shot(e, 2);
  EXPECT_EQ(first.collectives, 2)
      << "to agree on the arguments, and that the exchange could be built";
  EXPECT_EQ(other.collectives, 2);
  EXPECT_EQ(again.collectives, 1);
  tonari_request request = TONARI_REQUEST_NULL;
  const Counts init =
      counted([&] { return alltoallv_init(d, near, Info{{"tonari_tune", "off"}}, &request); });
  EXPECT_EQ(init.collectives, 2) << "no sizes are exchanged";
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(Levels, SharedMemoryIsConnectedOnce) {
  make("true", "false", "shared");
  auto d = ring.data(0);
  const Counts first = one_shot(d, 0), again = one_shot(d, 1);
  EXPECT_EQ(first.collectives, 4)
      << "also to tell where the memory is, and that it could be mapped";
  EXPECT_EQ(again.collectives, 1);
  EXPECT_EQ(again.setups, 0) << again.first;
}

// Ranks that forward blocks have to learn their sizes; with the key that is done when the
// neighborhood is made.
TEST_F(Levels, SizesOfPassingBlocks) {
  if (world_size() < 4) GTEST_SKIP() << "no rank has two neighbors";
  const EmulatedNodes nodes("2");
  for (const char* exact : {"false", "true"}) {
    const Info info{{"cdag_exact_byte_communications", exact},
                    {"tonari_tune", "model"},
                    {"tonari_algorithm", "node-aware"},
                    {"tonari_channel", "p2p-packed"}};
    near = ring.make(info);
    auto d = ring.data(0);
    const Counts first = one_shot(d, 0);
    EXPECT_TRUE(*exact == 't' ? first.collectives == 2 : first.collectives > 4)
        << first.collectives;
    tonari_neighborhood_free(&near);
  }
}

TEST_F(Levels, Buffers) {
  for (const char* exact : {"false", "true"}) {
    make(exact, "true");
    auto d = ring.data(0);
    EXPECT_GT(one_shot(d, 0).collectives, 0);
    const Counts blocking = one_shot(d, 1);
    EXPECT_EQ(blocking.collectives, 0) << blocking.first;
    EXPECT_EQ(blocking.setups, 0) << blocking.first;
    EXPECT_EQ(blocking.allocations, 0);
    for (int round = 2; round < 4; ++round) {
      tonari_request request = TONARI_REQUEST_NULL;
      ring.fill(d, round);
      const Counts counts = counted([&] {
        return ialltoallv(d, near, &request) | tonari_wait(request) | tonari_request_free(&request);
      });
      ring.expect(d, round);
      EXPECT_EQ(counts.collectives, 0) << counts.first;
      EXPECT_EQ(counts.setups, 0) << counts.first;
      EXPECT_TRUE(round == 2 || counts.allocations == 0) << "the handle is used again";
    }
    tonari_neighborhood_free(&near);
  }
}

// Where all blocks that travel have one size, one agreement is enough to see it: also with ranks
// that have no edges, and at the borders of a mesh, where blocks are missing.
class EqualSizes : public Levels {
 protected:
  void SetUp() override {
    if (world_size() < 3) GTEST_SKIP() << "needs a rank beside an edge";
  }
  void expect_no_exchange(bool gathers) {
    std::vector<int> out(64, world_rank()), in(64, -1);
    const Info info{{"tonari_tune", "off"}, {"tonari_algorithm", "linear"}};
    tonari_request request = TONARI_REQUEST_NULL;
    const auto init = gathers ? tonari_allgather_init : tonari_alltoall_init;
    long sends = counted([&] {
                   return init(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, near, info, &request);
                 }).sends;
    MPI_Allreduce(MPI_IN_PLACE, &sends, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sends, 0) << "sizes are exchanged";
    const std::string text = tonari_request_describe(request);
    EXPECT_CONTAINS(text, " 8 bytes per block\n");
    EXPECT_OK(tonari_start(request) | tonari_wait(request));
    int received = 0;
    tonari_neighborhood_degrees(near, &received, nullptr);
    std::vector<int> sources(received);
    tonari_neighborhood_ranks(near, nullptr, sources.data());
    for (int k = 0; k < 64; ++k) {
      const int source = k / 2 < received ? sources[k / 2] : MPI_PROC_NULL;
      EXPECT_EQ(in[k], source == MPI_PROC_NULL ? -1 : source) << "element " << k;
    }
    EXPECT_OK(tonari_request_free(&request));
  }
};

TEST_F(EqualSizes, WithARankThatHasNoEdges) {
  const int rank = world_rank(), lonely = world_size() - 1, center = 0;
  std::vector<int> others;
  for (int r = 1; r < lonely; ++r) others.push_back(r);
  const int in = rank != center && rank != lonely, out = rank == center ? lonely - 1 : 0;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, in, &center, MPI_UNWEIGHTED, out,
                                                others.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                &near));
  for (bool gathers : {false, true}) expect_no_exchange(gathers);
}

TEST_F(EqualSizes, OnAMesh) {
  for (int d : {1, 2}) {
    Topology mesh = torus_of_all(d);
    mesh.periods.assign(d, 0);
    MPI_Comm cart = make_cart(mesh);
    ASSERT_OK(tonari_neighborhood_create_from_comm(cart, MPI_INFO_NULL, &near));
    MPI_Comm_free(&cart);
    for (bool gathers : {false, true}) expect_no_exchange(gathers);
    tonari_neighborhood_free(&near);
  }
}

// One size on each rank is not one size on all, and ranks that abstain must not hide it.
TEST_F(EqualSizes, AnAgreementIsNotJumpedTo) {
  const int rank = world_rank(), ranks = world_size(), next = (rank + 1) % (ranks - 1),
            before = (rank + ranks - 2) % (ranks - 1);
  const int edges = rank < ranks - 1;  // a ring, and the last rank
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, edges, &before, MPI_UNWEIGHTED,
                                                edges, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                &near));
  std::vector<int> out(ranks, rank), in(ranks, -1);
  const MPI_Aint place = 0;
  const int sent = 1 + rank, received = 1 + before;
  EXPECT_OK(tonari_alltoallv(out.data(), &sent, &place, MPI_INT, in.data(), &received, &place,
                             MPI_INT, near));
  for (int k = 0; k < ranks; ++k) EXPECT_EQ(in[k], edges && k < received ? before : -1);
  const int wrong = rank == 0 ? received - 1 : received;
  const int code = tonari_alltoallv(out.data(), &sent, &place, MPI_INT, in.data(), &wrong, &place,
                                    MPI_INT, near);
  // both ends hear, the sender perhaps later if no edge leads back to it
  if (rank > 0 && rank == ranks - 2)
    EXPECT_TRUE(code == TONARI_ERR_MISMATCH || (code == TONARI_SUCCESS && ranks > 3)) << code;
  else
    EXPECT_EQ(code, rank == 0 ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
}

// Calls that nothing is forced for ask nobody, once they are connected.
TEST_F(Levels, Streams) {
  make("false", "false", "auto");
  auto d = ring.data(0), e = ring.data(1);
  EXPECT_GT(one_shot(d, 0).collectives, 0);
  one_shot(e, 1);
  for (int round = 2; round < 6; ++round) {
    const Counts counts = one_shot(round % 2 ? d : e, round);
    EXPECT_EQ(counts.collectives + counts.setups, 0) << counts.first;
    EXPECT_EQ(counts.sends, 0);
    EXPECT_EQ(counts.allocations, 0);
  }
  for (int round = 6; round < 9; ++round) {
    tonari_request request = TONARI_REQUEST_NULL;
    ring.fill(d, round);
    const Counts counts = counted([&] {
      return ialltoallv(d, near, &request) | tonari_wait(request) | tonari_request_free(&request);
    });
    ring.expect(d, round);
    EXPECT_EQ(counts.collectives + counts.setups, 0) << counts.first;
    EXPECT_TRUE(round == 6 || counts.allocations == 0) << "the handle is used again";
  }
}

TEST_F(Levels, StreamsWithDatatypes) {
  Topology t = torus_of_all(1);
  t.offsets = {0, 1, -1};
  MPI_Comm cart = make_cart(t);
  ASSERT_OK(tonari_neighborhood_create_cart(cart, 3, t.offsets.data(), MPI_INFO_NULL, &near));
  MPI_Comm_free(&cart);
  expect_datatypes_are_recognized({0, 32, 64});
}

// Derived datatypes are recognized without being read.
TEST_F(Levels, BuffersWithDatatypes) {
  make("false", "true");
  expect_datatypes_are_recognized({0, 16, 32});
}

TEST_F(Levels, NothingIsLeftBehind) {
  Live before;
  const bool slow = mpi_spins() && ranks_are_slow();
  for (int k = 0; k < (slow ? 4 : 40); ++k) {
    if (k == (slow ? 2 : 10)) before = live();
    make(k % 2 ? "true" : "false", k % 3 ? "true" : "false");
    auto d = ring.data(0), e = ring.data(1);
    one_shot(d, 0);
    if (k % 3 == 0) one_shot(e, 1);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(ialltoallv(d, near, &request));
    if (k % 2) tonari_neighborhood_free(&near);
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
    tonari_neighborhood_free(&near);
  }
  const Live after = live();
  EXPECT_EQ(after.datatypes, before.datatypes);
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LT(after.pieces - before.pieces, 20);
}

}  // namespace
