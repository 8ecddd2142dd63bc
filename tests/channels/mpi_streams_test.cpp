// SPDX-License-Identifier: BSD-3-Clause
// Streams by MPI, each rank with its right and its left neighbor. These may be one, or the rank
// itself.
#include "channels/streams/mpi_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "faults.hpp"
#include "support/mpi_main.hpp"

namespace tonari {
namespace {

using test::called, test::faults, test::world_rank, test::world_size;
using Contents = std::vector<std::byte>;

constexpr std::size_t bytes_of_one = 5000, room = 64 * 1024;

struct Received {
  MessageHead head;
  Contents contents;
  const std::byte* at = nullptr;
};

// Both streams between this rank and a neighbor.
struct Ends {
  Ends(const std::shared_ptr<OwnedComm>& comm, int peer, int tag_out, int tag_in)
      : out({comm, tag_out, peer}, room, seen), in({comm, tag_in, peer}, room, seen) {
    in.open();
  }

  void push(const MessageHead& head, const Contents& contents) {
    std::byte* at = nullptr;
    while (!(at = out.first())) std::this_thread::yield();
    std::ranges::copy(contents, at);
    out.push_first(head, contents.size());
  }
  Received pull() {
    Received got;
    std::size_t bytes = 0;
    while (!(got.at = in.first(got.head, bytes))) std::this_thread::yield();
    got.contents.assign(got.at, got.at + bytes);
    in.release();
    return got;
  }
  void end() {
    while (!out.taken()) std::this_thread::yield();
  }

  std::shared_ptr<SeenMessages> seen = std::make_shared<SeenMessages>();
  MpiOut out;
  MpiIn in;
};

// The first stream of the program tells MPI_Finalize what to call. It is made before all tests.
class FirstStream : public testing::Environment {
 public:
  void SetUp() override {
    const auto comm = std::make_shared<OwnedComm>();
    duplicate(MPI_COMM_WORLD, *comm);
    const Ends ends(comm, world_rank(), 0, 0);
    if (!called().at_finalize.empty()) in_finalize = called().at_finalize.back();
  }
  static inline MPI_Comm_delete_attr_function* in_finalize = nullptr;
};
const testing::Environment* const first_stream = testing::AddGlobalTestEnvironment(new FirstStream);

class MpiStreams : public testing::Test {
 protected:
  void SetUp() override {
    const auto comm = std::make_shared<OwnedComm>();
    duplicate(MPI_COMM_WORLD, *comm);
    to_right = std::make_unique<Ends>(comm, right, 0, stream_tags);
    to_left = std::make_unique<Ends>(comm, left, stream_tags, 0);
  }
  void TearDown() override {
    to_right->end(), to_left->end();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  static MessageHead head(Bytes bytes) { return {.detail = 1, .sent = bytes}; }
  static Contents contents(int rank, int round, std::size_t bytes) {
    Contents all(bytes);
    for (std::size_t k = 0; k < bytes; ++k)
      all[k] = static_cast<std::byte>(31 * rank + 7 * round + static_cast<int>(k % 251));
    return all;
  }
  void expect_received(const Received& got, int round, std::size_t bytes) const {
    EXPECT_EQ(got.head, head(bytes)) << "round " << round;
    EXPECT_EQ(got.contents, contents(left, round, bytes)) << "round " << round;
  }
  void exchange(int round, std::size_t bytes) {
    to_right->push(head(bytes), contents(rank, round, bytes));
    expect_received(to_left->pull(), round, bytes);
  }
  // The second message promises that like ones come bare, for the first was answered.
  void promise(int round) {
    exchange(round, bytes_of_one);
    to_left->push({.detail = 2}, {});
    EXPECT_EQ(to_right->pull().head.detail, 2u);
    exchange(round + 1, bytes_of_one);
    ASSERT_TRUE(to_right->out.is_bare(head(bytes_of_one), bytes_of_one));
    ASSERT_NE(to_left->in.bare_head(), nullptr);
  }

  const test::NoFaultsAfterwards no_faults;
  int rank = world_rank(), ranks = world_size();
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  std::unique_ptr<Ends> to_right, to_left;
  Contents place = Contents(bytes_of_one, std::byte{77});
};

// The receiver looks for the bare message a moment too early, and then the head is there as well.
TEST_F(MpiStreams, AHeadIsNotTakenForTheBareMessageBeforeIt) {
  promise(0);
  faults().hidden_tag = tag_of_bare;
  to_left->in.expect_bare(place.data(), bytes_of_one);
  const Contents bare = contents(rank, 2, bytes_of_one);
  to_right->out.push_bare(bare.data(), bytes_of_one);
  to_right->push(head(100), contents(rank, 3, 100));
  const Received first = to_left->pull();
  expect_received(first, 2, bytes_of_one);
  EXPECT_EQ(first.at, place.data());
  expect_received(to_left->pull(), 3, 100);
  exchange(4, 200);
  to_right->end();  // until then `bare` is sent from where it lies
}

TEST_F(MpiStreams, AHeadTakesTheReceiveOfABareMessageBack) {
  promise(0);
  const long before = called().cancels;
  to_left->in.expect_bare(place.data(), bytes_of_one);
  exchange(2, 100);
  EXPECT_EQ(called().cancels, before + 1);
  EXPECT_EQ(to_left->in.bare_head(), nullptr);
  EXPECT_FALSE(to_right->out.is_bare(head(bytes_of_one), bytes_of_one));
  promise(3);
  to_left->in.expect_bare(nullptr, bytes_of_one);
  const Contents bare = contents(rank, 5, bytes_of_one);
  to_right->out.push_bare(bare.data(), bytes_of_one);
  expect_received(to_left->pull(), 5, bytes_of_one);
  EXPECT_EQ(place, Contents(bytes_of_one, std::byte{77}));
  to_right->end();
}

TEST_F(MpiStreams, VeryLongMessagesAreNeverBare) {
  promise(0);
  const MpiOut& out = to_right->out;
  EXPECT_TRUE(out.is_bare(head(bytes_of_one), most_bare));
  EXPECT_FALSE(out.is_bare(head(bytes_of_one), most_bare + 1));
  EXPECT_FALSE(out.is_bare(head(bytes_of_one), Bytes{3} << 30));
  EXPECT_TRUE(out.is_bare(head(bytes_of_one), least_bare));
  EXPECT_FALSE(out.is_bare(head(bytes_of_one), least_bare - 1));
}

// A receive that cannot be taken back keeps its memory, and nobody has any for a note of that.
TEST_F(MpiStreams, GivingUpNeedsNoMemory) {
  promise(0);
  to_left->in.expect_bare(nullptr, bytes_of_one);
  faults().cancel_fails = true;
  bool failed = false;
  faults().no_memory = true;
  try {
    to_left->in.expect_nothing();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  faults() = {};
  EXPECT_FALSE(failed);
}

// Sessions may go on where MPI_Finalize has ended the world: receives are posted once more.
TEST_F(MpiStreams, GoOnWhereTheWorldHasEnded) {
  exchange(0, 100);
  ASSERT_NE(FirstStream::in_finalize, nullptr);
  FirstStream::in_finalize(MPI_COMM_SELF, 0, nullptr, nullptr);
  const long before = called().starts;
  exchange(1, 200);  // in a callback of the program
  EXPECT_EQ(called().starts, before);
  faults().no_world = true;
  exchange(2, 300);
  exchange(3, 400);
  EXPECT_GT(called().starts, before);
}

}  // namespace
}  // namespace tonari
