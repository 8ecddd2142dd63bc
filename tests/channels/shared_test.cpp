// SPDX-License-Identifier: BSD-3-Clause
// Messages through shared memory between real processes: every byte of every exchange by every
// protocol, with ranks that dawdle; what blocks whom; and how the ends learn that the other has
// left.
#include "channels/shared/link.hpp"

#include "channels/shared_player.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using namespace test;
using test::error_of;

int exchanges(int wanted) {
  const bool crowded = world_size() > static_cast<int>(std::thread::hardware_concurrency());
  return mpi_spins() && crowded ? wanted / 10 : wanted;
}

struct Played {
  std::size_t by_itself = 0, most_parts = 0;
};

Played play(const SharedLimits& limits, unsigned seed, int rounds) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed), own(seed * 100 + static_cast<unsigned>(world_rank()));
  const auto node = whole_node();
  Player player(node, random_graph(random, limits), limits, seed);
  for (int exchange = 0; exchange < rounds && !testing::Test::HasFailure(); ++exchange) {
    dawdle(own);
    player.start(exchange);
    if (!finish(player)) break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return {player.by_itself(), player.most_parts()};
}

bool node_reads_memory() { return everywhere(whole_node()->reads_memory()); }

// ---- every byte

TEST(SharedLink, EveryByteOfEveryExchangeArrives) {
  std::size_t most = 0;
  for (unsigned seed = 1; seed <= 6; ++seed)
    most = std::max(most, play(small_limits(false, false), seed, exchanges(300)).most_parts);
  if (world_size() > 1) {
    EXPECT_TRUE(!everywhere(most < 8)) << "messages of many parts";
  }
}

TEST(SharedLink, TwoThousandExchanges) { play(small_limits(false, false), 7, exchanges(2000)); }

TEST(SharedLink, SingleCopiesOfManyPieces) {
  if (!node_reads_memory()) GTEST_SKIP() << "the system lets no process read another's memory";
  std::size_t copies = 0;
  for (unsigned seed = 11; seed <= 14; ++seed)
    copies += play(small_limits(true, false), seed, exchanges(300)).by_itself;
  if (world_size() > 1) {
    EXPECT_FALSE(everywhere(copies == 0));
  }
}

TEST(SharedLink, WhatIsSeenInPlaceStaysUntilTheNextStart) {
  for (unsigned seed = 21; seed <= 24; ++seed)
    EXPECT_LE(play(small_limits(false, true), seed, exchanges(300)).most_parts, 1u);
}

TEST(SharedLink, TheUsualLimits) {
  SharedLimits limits;
  if (node_reads_memory()) limits.single_copy = 400'000;
  for (unsigned seed = 31; seed <= 32; ++seed) play(limits, seed, exchanges(20));
}

// Lengths of 1 to 70 bytes that all end in the canary in some exchange, one after the other over
// the same cells.
TEST(SharedLink, MessagesThatEndInTheCanary) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  SharedLimits limits;
  std::vector<Edge> edges;
  for (Bytes bytes = 1; bytes <= 70; ++bytes)
    edges.push_back({static_cast<int>(bytes) % 2, 1 - static_cast<int>(bytes) % 2,
                     static_cast<int>(bytes), bytes});
  const auto node = whole_node();
  Player player(node, edges, limits, 1);
  for (int exchange = 0; exchange < exchanges(600); ++exchange) {
    player.start(exchange);
    if (!finish(player)) break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(SharedLink, SeveralAtOnceEndInAnyOrder) {
  const auto node = whole_node();
  for (int round = 0; round < exchanges(30); ++round) {
    std::mt19937 random(static_cast<unsigned>(round)),
        own(static_cast<unsigned>(100 * round + world_rank()));
    std::vector<std::unique_ptr<Player>> players;
    for (int k = 0; k < 3; ++k)
      players.push_back(std::make_unique<Player>(
          node, random_graph(random, small_limits(false, false)), small_limits(false, false), k));
    for (int exchange = 0; exchange < 3; ++exchange) {
      for (auto& player : players) player->start(exchange);
      for (bool all = false; !all;) {
        all = true;
        for (auto& player : players) all &= player->test();
        if (!all) std::this_thread::yield();
      }
    }
    std::shuffle(players.begin(), players.end(), own);
  }
}

// ---- who waits for whom

// Rank 0 sends to rank 1, which takes nothing until told to.
class SharedPlaces : public testing::Test {
 protected:
  void SetUp() override {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    node_ = whole_node();
  }
  bool sender() const { return world_rank() == 0; }
  bool receiver() const { return world_rank() == 1; }
  void open(Bytes bytes, const SharedLimits& limits) {
    player_ = std::make_unique<Player>(node_, std::vector<Edge>{{0, 1, 5, bytes}}, limits, 1);
  }
  OutEdge& out() { return player_->link().out(0); }
  InEdge& in() { return player_->link().in(0); }
  void meet() { MPI_Barrier(MPI_COMM_WORLD); }
  void take(std::size_t part, int parity) {
    EXPECT_TRUE(in().arrived(part, parity));
    in().taken(part, parity);
  }

  std::shared_ptr<const Node> node_;
  std::unique_ptr<Player> player_;
};

TEST_F(SharedPlaces, TwoExchangesMayBeUnderWayAndNoThird) {
  const SharedLimits limits = small_limits(false, false);
  for (const Bytes bytes : {Bytes{8}, limits.canary, limits.canary + 1, limits.whole}) {
    open(bytes, limits);
    if (sender())
      for (int exchange = 0; exchange < 2; ++exchange) {
        EXPECT_TRUE(out().may_write(0, exchange));
        out().written(0, exchange);
        EXPECT_TRUE(out().sent(exchange));
        EXPECT_FALSE(out().may_write(0, exchange)) << "of the next but one exchange";
      }
    meet();
    if (receiver()) take(0, 0);
    meet();
    if (sender()) {
      EXPECT_TRUE(out().may_write(0, 0));
      EXPECT_FALSE(out().may_write(0, 1));
    }
    meet();
    if (receiver()) {
      EXPECT_FALSE(in().arrived(0, 0));
      take(0, 1);
    }
    meet();
    if (sender()) {
      EXPECT_TRUE(out().may_write(0, 1));
    }
    meet();
  }
}

TEST_F(SharedPlaces, PartsWaitForTheirCells) {
  const SharedLimits limits = small_limits(false, false);
  open(6 * limits.chunk, limits);
  if (sender()) {
    for (std::size_t part = 0; part < 4; ++part) {
      EXPECT_TRUE(out().may_write(part, 0));
      out().written(part, 0);
    }
    EXPECT_FALSE(out().may_write(4, 0));
  }
  meet();
  if (receiver()) take(0, 0);
  meet();
  if (sender()) {
    EXPECT_TRUE(out().may_write(4, 0));
    EXPECT_FALSE(out().may_write(5, 0));
  }
  meet();
}

TEST_F(SharedPlaces, ASingleCopyIsSentWhenItIsTaken) {
  if (!everywhere(node_->reads_memory()))
    GTEST_SKIP() << "the system lets no process read another's memory";
  const SharedLimits limits = small_limits(true, false);
  open(1000, limits);
  for (int exchange = 0; exchange < 4; ++exchange) {
    const int parity = exchange % 2;
    if (sender()) {
      EXPECT_TRUE(out().may_write(0, parity));
      out().written(0, parity);
      EXPECT_FALSE(out().sent(parity));
    }
    meet();
    if (receiver()) take(0, parity);
    meet();
    if (sender()) {
      EXPECT_TRUE(out().sent(parity));
    }
  }
  meet();
}

// ---- ends

TEST_F(SharedPlaces, WhoWaitsForOneThatLeftLearnsWhoItWas) {
  for (const bool sender_leaves : {false, true}) {
    open(8, small_limits(false, false));
    if (sender()) {
      EXPECT_NO_THROW(out().check());
    }
    if (receiver()) {
      EXPECT_NO_THROW(in().check());
    }
    meet();
    const bool leaves = sender_leaves ? sender() : receiver(),
               stays = sender_leaves ? receiver() : sender();
    if (leaves) player_->leave();
    meet();
    if (stays) {
      const Error error = error_of([&] { sender() ? out().check() : in().check(); });
      EXPECT_EQ(error.code(), Errc::peer);
      EXPECT_NE(std::string(error.what())
                    .find(sender_leaves ? "rank 0 has freed its request"
                                        : "rank 1 has freed its request"),
                std::string::npos)
          << error.what();
    }
    meet();
  }
}

// What was sent before the sender left still arrives.
TEST_F(SharedPlaces, WhatWasSentOutlivesItsSender) {
  open(100, small_limits(false, false));
  if (sender()) {
    player_->start(0);
    EXPECT_TRUE(player_->test());
    player_->leave();
  }
  meet();
  if (receiver()) {
    player_->start(0);
    EXPECT_TRUE(player_->test());
  }
  meet();
}

TEST_F(SharedPlaces, LengthsThatDifferAreAnError) {
  const std::vector<EdgeMessage> out =
      sender() ? std::vector<EdgeMessage>{{1, 0, 16}} : std::vector<EdgeMessage>{};
  const std::vector<EdgeMessage> in =
      receiver() ? std::vector<EdgeMessage>{{0, 0, 24}} : std::vector<EdgeMessage>{};
  SharedLink link(node_, world_rank(), in, out, {});
  const std::map<std::int32_t, SegmentName> names = all_names(link.segment());
  const Error error = error_of([&] { link.attach(names); });
  EXPECT_EQ(error.code(), sender() ? Errc::mismatch : Errc::success) << error.what();
  meet();
}

TEST_F(SharedPlaces, WithoutAnInboxThereNobodyAttaches) {
  const std::vector<EdgeMessage> out =
      sender() ? std::vector<EdgeMessage>{{1, 0, 16}} : std::vector<EdgeMessage>{};
  SharedLink link(node_, world_rank(), {}, out, {});
  EXPECT_EQ(link.attach({{0, {}}, {1, {}}}), !sender());
  meet();
}

}  // namespace
}  // namespace tonari
