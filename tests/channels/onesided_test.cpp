// SPDX-License-Identifier: BSD-3-Clause
// Messages through windows: every byte of every exchange, on random graphs of messages, with ranks
// that dawdle, in all ways to say ready and to look.
#include "channels/onesided/link.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "support/duplicate.hpp"
#include "support/errors.hpp"
#include "support/mpi_main.hpp"

namespace tonari {
namespace {

using test::world_rank;
using test::world_size;
using Options = OneSided::Options;
using Ready = OneSided::Ready;

bool crawls() {
  return test::mpi_spins() && world_size() > static_cast<int>(std::thread::hardware_concurrency());
}
int exchanges(int wanted) { return crawls() ? (wanted + 9) / 10 : wanted; }
unsigned graphs(unsigned wanted) { return crawls() ? 1 : wanted; }

struct Edge {
  int from, to, tag;
  Bytes bytes;
};

// What message `tag` of a pair holds at each byte in an exchange. Mostly arbitrary; some exchanges
// send what protocols could take for something else: all zeros, all ones, the complement of what
// the place held before, what it held before but for one byte.
class Content {
 public:
  Content(const Edge& e, int exchange)
      : kind_(Hash().word(e.tag).word(e.to).word(exchange / 2).value() % 8),
        half_(exchange / 2 % 2 ? std::byte{0xA5} : std::byte{0x5A}),
        one_(e.bytes > 0 ? static_cast<Bytes>(exchange) % e.bytes : 0) {
    const auto pair = static_cast<std::uint64_t>(e.from) << 32 | static_cast<std::uint32_t>(e.to);
    message_.word(pair).word(e.tag).word(exchange);
  }
  std::byte operator[](Bytes k) const {
    if (kind_ > 3)
      return std::byte{static_cast<unsigned char>(Hash(message_).word(k).value() >> 20)};
    if (kind_ == 0) return std::byte{0};
    if (kind_ == 1) return std::byte{0xFF};
    return kind_ == 2 ? half_ : std::byte{k == one_};
  }

 private:
  std::uint64_t kind_;
  std::byte half_;
  Bytes one_;
  Hash message_;  // of all but the byte: most of a test's time is spent on bytes
};

std::vector<Edge> random_graph(std::mt19937& random, Bytes most) {
  const int ranks = world_size();
  std::vector<Edge> edges;
  std::vector<int> tags(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks), 0);
  // a rank without messages, perhaps
  const auto quiet = random() % static_cast<unsigned>(2 * ranks + 2);
  for (auto n = random() % (4 * static_cast<unsigned>(ranks)) + 4; n > 0; --n) {
    const int from = static_cast<int>(random() % static_cast<unsigned>(ranks)),
              to = static_cast<int>(random() % static_cast<unsigned>(ranks));
    if (from == static_cast<int>(quiet) || to == static_cast<int>(quiet)) continue;
    const Bytes limits[] = {9, 9, 64, 1000, most};
    const Bytes bytes = random() % 12 == 0 ? 0 : 1 + random() % limits[random() % 5];
    edges.push_back({from, to, tags[static_cast<std::size_t>(from * ranks + to)]++, bytes});
  }
  std::shuffle(edges.begin(), edges.end(), random);
  return edges;
}

// Plays the engine: one request.
class Player {
 public:
  Player(Windows& windows, const std::vector<Edge>& edges, const Options& options) {
    std::vector<OneSided::Message> out, in;
    for (const Edge& e : edges) {
      if (e.from == world_rank()) sends_.push_back(e), out.push_back({e.to, e.tag, e.bytes});
      if (e.to == world_rank()) recvs_.push_back(e), in.push_back({e.from, e.tag, e.bytes});
    }
    channel_ = OneSided::make(windows, out, in, options);
    for (std::size_t k = 0; k < sends_.size(); ++k) own_.push_back(bind(k));
  }
  const OneSided& channel() const { return *channel_; }

  void start(int exchange) {
    exchange_ = exchange;
    parity_ = exchange % 2;
    to_write_ = numbers(sends_.size()), to_leave_.clear(), to_take_ = numbers(recvs_.size());
  }

  // Does what can be done; whether the exchange is complete.
  bool test() {
    const std::size_t before = to_write_.size() + to_leave_.size() + to_take_.size();
    std::erase_if(to_write_, [&](std::size_t k) { return write(k); });
    std::erase_if(to_leave_, [&](std::size_t k) { return channel_->out(k).sent(parity_); });
    std::erase_if(to_take_, [&](std::size_t k) { return take(k); });
    const std::size_t left = to_write_.size() + to_leave_.size() + to_take_.size();
    if (left > 0 && left == before) channel_->progress();
    return left == 0;
  }

 private:
  // The memory of a message that is put from where it lies, in two pieces with a gap between.
  std::vector<std::byte> bind(std::size_t k) {
    OutEdge& edge = channel_->out(k);
    if (edge.slots().empty() || edge.slots()[0].at[0]) return {};
    const Bytes first = cut(k), rest = sends_[k].bytes - first;
    std::vector<std::byte> own(sends_[k].bytes + gap);
    const auto at = reinterpret_cast<std::uintptr_t>(own.data());
    const Piece pieces[] = {{at, first}, {at + first + gap, rest}};
    edge.bound(pieces);
    return own;
  }
  Bytes cut(std::size_t k) const { return sends_[k].bytes / 3; }

  static std::vector<std::size_t> numbers(std::size_t n) {
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  bool write(std::size_t k) {
    OutEdge& edge = channel_->out(k);
    if (!edge.slots().empty()) {
      if (!edge.may_write(0, parity_)) return false;
      const bool packed = own_[k].empty();
      std::byte* const at =
          packed ? edge.slots()[0].at[static_cast<std::size_t>(parity_)] : own_[k].data();
      const Content content(sends_[k], exchange_);
      for (Bytes b = 0; b < sends_[k].bytes; ++b)
        at[packed || b < cut(k) ? b : b + gap] = content[b];
      edge.written(0, parity_);
      to_leave_.push_back(k);
    }
    return true;
  }

  bool take(std::size_t k) {
    InEdge& edge = channel_->in(k);
    if (edge.slots().empty()) return true;
    if (!edge.arrived(0, parity_)) return false;
    const MessageSlot& slot = edge.slots()[0];
    EXPECT_EQ(slot.end - slot.begin, recvs_[k].bytes);
    const std::byte* const at = slot.at[static_cast<std::size_t>(parity_)];
    const Content content(recvs_[k], exchange_);
    Bytes wrong = 0;
    for (Bytes b = 0; b < recvs_[k].bytes; ++b) wrong += at[b] != content[b];
    EXPECT_EQ(wrong, 0u) << "of " << recvs_[k].bytes << " bytes from rank " << recvs_[k].from
                         << " in exchange " << exchange_;
    edge.taken(0, parity_);
    return true;
  }

  static constexpr Bytes gap = 5;
  std::vector<Edge> sends_, recvs_;
  std::vector<std::vector<std::byte>> own_;
  std::unique_ptr<OneSided> channel_;
  int exchange_ = 0, parity_ = 0;
  std::vector<std::size_t> to_write_, to_leave_, to_take_;
};

void dawdle(std::mt19937& random) {
  if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
}

void finish(Player& player) {
  const auto start = std::chrono::steady_clock::now();
  while (!player.test())
    if (std::chrono::steady_clock::now() - start > std::chrono::minutes(10)) {
      ADD_FAILURE() << "an exchange hangs";
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

// Every rank makes the same numbers but dawdles by its own.
void play(const Options& options, unsigned seed, int count, Bytes most) {
  SCOPED_TRACE(
      testing::Message() << "seed " << seed << ", "
                         << (options.ready == Ready::tree ? "tree of degree " : "per edge ")
                         << options.degree << (options.separate ? ", separate" : ""));
  std::mt19937 random(seed), own(seed + 1000u * static_cast<unsigned>(world_rank() + 1));
  Windows windows(test::duplicate_of_all());
  Player player(windows, random_graph(random, most), options);
  for (int exchange = 0; exchange < count; ++exchange) {
    player.start(exchange);
    finish(player);
    dawdle(own);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  windows.trim();
}

// degree (0: per edge), separate
class OneSidedModes : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static Options options() {
    const auto [degree, separate] = GetParam();
    return {degree == 0 ? Ready::per_edge : Ready::tree, std::max(degree, 1), separate};
  }
};

TEST_P(OneSidedModes, EveryByteOfEveryExchangeArrives) {
  for (unsigned seed = 1; seed <= graphs(4); ++seed) play(options(), seed, exchanges(50), 300'000);
}

TEST_P(OneSidedModes, ShortMessagesAreNeverTakenForOthers) {
  for (unsigned seed = 11; seed < 11 + graphs(3); ++seed)
    play(options(), seed, exchanges(crawls() ? 100 : 400), 40);
}

TEST_P(OneSidedModes, AnyLengthMayTravelTwice) {
  Options twice = options(), never = options();
  twice.short_bytes = 300'000;
  never.short_bytes = 0;
  play(twice, 21, exchanges(20), 20'000);
  play(never, 22, exchanges(50), 300);
}

TEST_P(OneSidedModes, AnyLengthMayBePutFromWhereItLies) {
  Options all = options(), none = options();
  all.staged_bytes = 0;
  none.staged_bytes = 300'000;
  play(all, 23, exchanges(20), 20'000);
  play(none, 24, exchanges(20), 20'000);
}

std::string name_of_mode(const testing::TestParamInfo<std::tuple<int, bool>>& mode) {
  const int degree = std::get<0>(mode.param);
  return (degree == 0 ? "PerEdge" : "TreeOfDegree" + std::to_string(degree)) +
         (std::get<1>(mode.param) ? "Separate" : "");
}

INSTANTIATE_TEST_SUITE_P(All, OneSidedModes,
                         testing::Combine(testing::Values(0, 1, 2, 4), testing::Bool()),
                         name_of_mode);

// A sender is at most two exchanges ahead of a receiver that never takes anything.
TEST(OneSidedPlaces, AreNotOverwritten) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  for (Ready ready : {Ready::per_edge, Ready::tree}) {
    Windows windows(test::duplicate_of_all());
    std::vector<OneSided::Message> out, in;
    if (world_rank() == 0)
      for (int to = 1; to < world_size(); ++to) out.push_back({to, 0, 8});
    else
      in.push_back({0, 0, 8});
    const auto channel = OneSided::make(windows, out, in, Options{ready, 1});
    for (int exchange = 0; exchange < 3; ++exchange)
      for (std::size_t k = 0; k < out.size(); ++k) {
        OutEdge& edge = channel->out(k);
        EXPECT_EQ(edge.may_write(0, exchange % 2), exchange < 2);
        if (exchange == 2) continue;
        std::memset(edge.slots()[0].at[static_cast<std::size_t>(exchange % 2)], exchange + 1, 8);
        edge.written(0, exchange % 2);
        EXPECT_TRUE(edge.sent(exchange % 2));
      }
    MPI_Barrier(MPI_COMM_WORLD);
    // All but the last rank take the first message: in the tree of degree 1 the sender hears of
    // nobody before the last one has.
    const bool last = world_rank() == world_size() - 1;
    const auto take = [&] {
      while (!channel->in(0).arrived(0, 0)) channel->progress();
      channel->in(0).taken(0, 0);
    };
    if (world_rank() > 0 && !last) take();
    for (int round = 0; round < 3; ++round) channel->progress(), MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t k = 0; k < out.size(); ++k)
      EXPECT_EQ(channel->out(k).may_write(0, 0), ready == Ready::per_edge && k + 1 < out.size())
          << k;
    MPI_Barrier(MPI_COMM_WORLD);
    if (last) take();
    for (int round = 0; round < world_size() + 1; ++round)
      channel->progress(), MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t k = 0; k < out.size(); ++k) EXPECT_TRUE(channel->out(k).may_write(0, 0)) << k;
  }
}

TEST(OneSidedWindows, AreFreedInAnyOrderAndUsedAgain) {
  std::mt19937 random(3);
  const std::vector<Edge> edges = random_graph(random, 5000);
  Windows windows(test::duplicate_of_all());
  for (int round = 0; round < exchanges(20); ++round) {
    std::vector<std::unique_ptr<Player>> players;
    for (int k = 0; k < 3; ++k)
      players.push_back(std::make_unique<Player>(
          windows, edges, Options{k == 1 ? Ready::tree : Ready::per_edge, 2}));
    for (int exchange = 0; exchange < 3; ++exchange) {
      for (auto& player : players) player->start(exchange);
      for (bool all = false; !all;) {
        all = true;
        for (auto& player : players) all &= player->test();
      }
    }
    // Every rank in an order of its own, and no barrier before the next are made.
    std::mt19937 own(static_cast<unsigned>(round * 100 + world_rank()));
    std::shuffle(players.begin(), players.end(), own);
  }
  EXPECT_EQ(windows.count(), 3u);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::size_t before = Windows::alive();
  windows.trim();
  EXPECT_EQ(windows.count(), 0u);
  EXPECT_EQ(Windows::alive(), before - 3);
}

// A window that one rank still uses is neither freed nor given to another user.
TEST(OneSidedWindows, StayWithTheirUsers) {
  Windows windows(test::duplicate_of_all());
  auto first = windows.take(100);
  const MPI_Win win = first->win;
  if (world_rank() > 0) first.reset();
  windows.trim();
  EXPECT_EQ(windows.count(), 1u);
  auto second = windows.take(100);
  EXPECT_NE(second->win, win);
  first.reset();
  auto third = windows.take(100);
  EXPECT_EQ(third->win, win);
}

// What a rank says last may be that it is ready again, to a sender that will never ask; the
// window's next user must not hear it.
TEST(OneSidedWindows, BringNothingFromTheirLastUsers) {
  std::mt19937 random(5);
  Windows windows(test::duplicate_of_all());
  for (int round = 0; round < exchanges(30); ++round) {
    Player player(windows, random_graph(random, 600),
                  Options{round % 2 ? Ready::tree : Ready::per_edge, 2, round % 3 == 0});
    for (int exchange = 0; exchange < 1 + round % 4; ++exchange)
      player.start(exchange), finish(player);
  }
}

// Communicators that were freed while their windows live: the numbers of the former may be given
// away again, those of the latter must not.
TEST(OneSidedWindows, OutliveTheirCommunicators) {
  std::mt19937 random(9);
  std::vector<std::shared_ptr<Window>> kept;
  for (int round = 0; round < 4; ++round) {
    Windows windows(test::duplicate_of_all());
    kept.push_back(windows.take(64));
    Player player(windows, random_graph(random, 30'000), Options{Ready::per_edge, 1, true});
    for (int exchange = 0; exchange < 4; ++exchange) player.start(exchange), finish(player);
  }
}

// ---- memory

// Around the ring.
struct Ring {
  explicit Ring(Bytes bytes)
      : out{{(world_rank() + 1) % world_size(), 0, bytes}},
        in{{(world_rank() + world_size() - 1) % world_size(), 0, bytes}} {}
  std::vector<OneSided::Message> out, in;
};

// A long message takes its two places at the receiver, and next to nothing else.
TEST(OneSidedMemory, IsWhatWasSaid) {
  constexpr Bytes small = 80 * 1024;  // a spare part of the window, its last page, words
  for (const Bytes bytes : {Bytes{1000}, Bytes{100'000}, Bytes{16} << 20}) {
    Windows windows(test::duplicate_of_all());
    const Ring ring(bytes);
    const auto channel = OneSided::make(windows, ring.out, ring.in, {});
    const Bytes said = OneSided::needed(ring.out, ring.in, {});
    EXPECT_GE(channel->bytes(), said);
    EXPECT_LE(channel->bytes(), said + small);
    EXPECT_LE(said, bytes <= 16 * 1024 ? 3 * bytes + small : 2 * bytes + 1024);
  }
}

// As much as the ranks of a node need together, on every node.
TEST(OneSidedMemory, IsAskedForBeforeItIsTaken) {
  const Ring ring(300'000);
  std::vector<std::int32_t> node(static_cast<std::size_t>(world_size()));
  std::iota(node.begin(), node.end(), 0);
  const Bytes each = OneSided::needed(ring.out, ring.in, {}), all = each * node.size();
  Windows windows(test::duplicate_of_all());
  const auto make = [&](Bytes free) {
    Options options;
    options.node = node;
    // the node of one rank alone
    options.free = world_rank() == world_size() - 1 ? free : 10 * all;
    return OneSided::make(windows, ring.out, ring.in, options);
  };
  const std::size_t before = Windows::alive();
  const Error error = test::error_of([&] { make(all - 1); });
  test::expect_sentence(error, Errc::mpi,
                        {"rank " + std::to_string(world_size() - 1),
                         std::to_string(all - 1) + " bytes that are left", "another channel"});
  EXPECT_EQ(Windows::alive(), before) << "a window was made";
  EXPECT_NE(make(all), nullptr);
  node = {world_rank()};
  EXPECT_NE(make(each), nullptr) << "what other nodes need does not count";
}

TEST(OneSidedMemory, CannotBeMoreThanAWindowHas) {
  Windows windows(test::duplicate_of_all());
  for (const Bytes bytes : {Bytes{1} << 61, Bytes{1} << 63, ~Bytes{0}}) {
    const Ring ring(bytes);
    test::expect_sentence(test::error_of([&] { OneSided::make(windows, ring.out, ring.in, {}); }),
                          Errc::mpi, {std::to_string(bytes), "too long"});
  }
}

TEST(OneSidedErrors, SizesThatDifferFailEverywhere) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  Windows windows(test::duplicate_of_all());
  std::vector<OneSided::Message> out, in;
  if (world_rank() == 0) out.push_back({1, 0, 16});
  if (world_rank() == 1) in.push_back({0, 0, 24});
  try {
    OneSided::make(windows, out, in, {});
    ADD_FAILURE() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::mpi);
    EXPECT_NE(std::string(error.what())
                  .find("rank 0: a message to rank 1 has 16 bytes here and 24 there"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NE(windows.take(1), nullptr);  // and it can be used on
}

}  // namespace
}  // namespace tonari
