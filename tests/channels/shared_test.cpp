// Messages through shared memory between real processes: every byte of every exchange by every
// protocol, with ranks that dawdle; what blocks whom; and how the ends learn that the other has
// left.
#include "channels/shared/link.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/hash.hpp"
#include "support/errors.hpp"
#include "support/mpi_main.hpp"

namespace tonari {
namespace {

using test::error_of;
using test::everywhere;
using test::world_rank;
using test::world_size;

#if defined(MPICH_NUMVERSION)
constexpr bool spins = true;  // gives no core away while it waits
#else
constexpr bool spins = false;
#endif

int exchanges(int wanted) {
  return spins && world_size() > static_cast<int>(std::thread::hardware_concurrency()) ? wanted / 10
                                                                                       : wanted;
}

std::shared_ptr<const Node> whole_node() {
  return std::make_shared<const Node>(MPI_COMM_WORLD, world_rank());
}

// Of all ranks, which are those of the node.
std::map<std::int32_t, SegmentName> all_names(const SegmentName& mine) {
  std::vector<SegmentName> names(static_cast<std::size_t>(world_size()));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, names.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  std::map<std::int32_t, SegmentName> by_rank;
  for (int rank = 0; rank < world_size(); ++rank)
    by_rank[rank] = names[static_cast<std::size_t>(rank)];
  return by_rank;
}

struct Edge {
  int from, to, tag;
  Bytes bytes;
};

std::uint64_t hash_of(const Edge& e, int exchange, Bytes k) {
  return Hash().word(e.from).word(e.to).word(e.tag).word(exchange).word(k).value();
}

// Byte k of a message. In some exchanges the message ends in the canary, or consists of nothing
// else.
std::byte content(const Edge& e, int exchange, Bytes k) {
  const std::uint64_t kind = hash_of(e, exchange, ~Bytes{0}) % 6;
  const bool in_last_word = k >= (e.bytes - 1) / sizeof(Cell::Word) * sizeof(Cell::Word);
  if (kind == 0 || (kind <= 2 && in_last_word))
    return static_cast<std::byte>(Cell::canary >> 8 * (k % sizeof(Cell::Word)));
  return static_cast<std::byte>(hash_of(e, exchange, k) >> 20);
}

// Small ones, so that all protocols occur with all numbers of parts.
SharedLimits small_limits(bool single_copy, bool views) {
  SharedLimits limits;
  limits.canary = 40;
  limits.whole = 300;
  limits.chunk = 100;
  limits.single_copy = single_copy ? 700 : 0;
  limits.views = views;
  return limits;
}

// Lengths around all limits, and around whole words, cells and parts.
Bytes random_length(std::mt19937& random, const SharedLimits& limits) {
  const Bytes around[] = {1,
                          8,
                          16,
                          64,
                          120,
                          128,
                          limits.canary,
                          limits.whole,
                          limits.single_copy,
                          4 * limits.chunk,
                          5 * limits.chunk,
                          9 * limits.chunk};
  const auto some = static_cast<Bytes>(around[random() % std::size(around)] + random() % 5);
  return random() % 3 == 0 ? 1 + random() % (10 * limits.chunk)
                           : std::max<Bytes>(1, some < 3 ? some : some - 2);
}

std::vector<Edge> random_graph(std::mt19937& random, const SharedLimits& limits) {
  const auto ranks = static_cast<unsigned>(world_size());
  std::vector<Edge> edges;
  for (unsigned n = random() % (6 * ranks) + 4; n > 0; --n) {
    const auto from = static_cast<int>(random() % ranks), to = static_cast<int>(random() % ranks);
    if (from != to) edges.push_back({from, to, static_cast<int>(n), random_length(random, limits)});
  }
  return edges;
}

// Memory of a message that its edge reads or writes by itself: pieces of all lengths, out of order,
// with gaps.
struct Scattered {
  std::vector<std::byte> memory;
  std::vector<Piece> pieces;

  Scattered(Bytes bytes, std::mt19937& random) : memory(2 * bytes + 64 * most_pieces) {
    std::size_t at = 0;
    while (bytes > 0) {
      const Bytes some =
          pieces.size() + 1 == most_pieces ? bytes : 1 + random() % std::min<Bytes>(bytes, 200);
      pieces.push_back({reinterpret_cast<std::uintptr_t>(memory.data() + at), some});
      at += some + random() % 64, bytes -= some;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
  }
  template <class Visit>
  void each_byte(Visit visit) {
    Bytes k = 0;
    for (const Piece& piece : pieces)
      for (Bytes b = 0; b < piece.bytes; ++b)
        visit(k++, reinterpret_cast<std::byte*>(piece.address)[b]);
  }
};

// Plays the engine: one request.
class Player {
 public:
  Player(const std::shared_ptr<const Node>& node, const std::vector<Edge>& edges,
         const SharedLimits& limits, unsigned seed)
      : views_(limits.views) {
    // where memory lies differs between ranks
    std::mt19937 random(seed * 64 + static_cast<unsigned>(world_rank()));
    std::vector<EdgeMessage> in, out;
    for (const Edge& e : edges) {
      if (e.from == world_rank()) sends_.push_back({e}), out.push_back({e.to, e.tag, e.bytes});
      if (e.to == world_rank()) recvs_.push_back({e}), in.push_back({e.from, e.tag, e.bytes});
    }
    link_ = std::make_unique<SharedLink>(node, world_rank(), in, out, limits);
    EXPECT_TRUE(link_->attach(all_names(link_->segment())));
    MPI_Barrier(MPI_COMM_WORLD);
    link_->finish_attach();
    for (std::size_t k = 0; k < sends_.size(); ++k) prepare(sends_[k], link_->out(k), random);
    for (std::size_t k = 0; k < recvs_.size(); ++k) prepare(recvs_[k], link_->in(k), random);
  }

  SharedLink& link() { return *link_; }
  void leave() { link_.reset(); }
  std::size_t by_itself() const { return by_itself_; }  // messages by single copy
  std::size_t most_parts() const { return most_parts_; }

  void start(int exchange) {
    if (views_ && exchange > 0)
      for (std::size_t k = 0; k < recvs_.size(); ++k) {
        expect_content(k);  // as it was when it came, whatever the senders have done since
        link_->in(k).taken(0, parity_);
      }
    exchange_ = exchange;
    parity_ = exchange % 2;
    for (Message& m : sends_) m.part = 0, m.done = false;
    for (Message& m : recvs_) m.part = 0, m.done = false;
  }

  // Does what can be done; whether the exchange is complete.
  bool test() {
    bool all = true;
    for (std::size_t k = 0; k < sends_.size(); ++k)
      all &= sends_[k].done || (sends_[k].done = send(k));
    for (std::size_t k = 0; k < recvs_.size(); ++k)
      all &= recvs_[k].done || (recvs_[k].done = receive(k));
    return all;
  }

 private:
  struct Message {
    Edge edge;
    std::unique_ptr<Scattered> memory = nullptr;
    std::size_t part = 0;
    bool done = false;
  };

  template <class End>
  void prepare(Message& message, End& end, std::mt19937& random) {
    most_parts_ = std::max(most_parts_, end.slots().size());
    if (end.slots()[0].at[0]) return;
    ++by_itself_;
    message.memory = std::make_unique<Scattered>(message.edge.bytes, random);
    end.bound(message.memory->pieces);
  }

  bool send(std::size_t k) {
    OutEdge& edge = link_->out(k);
    Message& m = sends_[k];
    for (; m.part < edge.slots().size(); ++m.part) {
      if (!edge.may_write(m.part, parity_)) return false;
      if (m.memory)
        m.memory->each_byte([&](Bytes b, std::byte& to) { to = content(m.edge, exchange_, b); });
      else
        write(edge.slots()[m.part], m.edge);
      edge.written(m.part, parity_);
    }
    return edge.sent(parity_);
  }
  void write(const MessageSlot& slot, const Edge& e) const {
    const Bytes tail = slot.end - slot.tail_bytes;
    for (Bytes b = slot.begin; b < tail; ++b)
      slot.at[static_cast<std::size_t>(parity_)][b - slot.begin] = content(e, exchange_, b);
    for (Bytes b = tail; b < slot.end; ++b) slot.tail[b - tail] = content(e, exchange_, b);
  }

  bool receive(std::size_t k) {
    InEdge& edge = link_->in(k);
    Message& m = recvs_[k];
    for (; m.part < edge.slots().size(); ++m.part) {
      if (!edge.arrived(m.part, parity_)) return false;
      expect_content(k);
      if (!views_) edge.taken(m.part, parity_);
    }
    return true;
  }
  void expect_content(std::size_t k) {
    Message& m = recvs_[k];
    Bytes wrong = 0;
    const MessageSlot& slot = link_->in(k).slots()[views_ ? 0 : m.part];
    if (m.memory)
      m.memory->each_byte(
          [&](Bytes b, std::byte& is) { wrong += is != content(m.edge, exchange_, b); });
    else
      for (Bytes b = slot.begin; b < slot.end; ++b)
        wrong += slot.at[static_cast<std::size_t>(parity_)][b - slot.begin] !=
                 content(m.edge, exchange_, b);
    EXPECT_EQ(wrong, 0u) << "of " << m.edge.bytes << " bytes from rank " << m.edge.from << ", part "
                         << m.part << " in exchange " << exchange_;
  }

  bool views_;
  std::vector<Message> sends_, recvs_;
  std::unique_ptr<SharedLink> link_;
  std::size_t by_itself_ = 0, most_parts_ = 0;
  int exchange_ = 0, parity_ = 0;
};

void dawdle(std::mt19937& random) {
  if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

// False, with a failure, if that takes minutes.
bool finish(Player& player) {
  const auto begin = std::chrono::steady_clock::now();
  while (!player.test()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) continue;
    ADD_FAILURE() << "an exchange does not complete";
    return false;
  }
  return true;
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
