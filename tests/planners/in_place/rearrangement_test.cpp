// The general in-place all-to-all without MPI: every rank's bookkeeping over a simulated network,
// under kind and unkind schedules, against out of place.
#include "planners/in_place/rearrangement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <random>

#include "support/errors.hpp"

namespace tonari {
namespace {

using Random = std::mt19937;
using Cell = std::uint64_t;

std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}

struct Case {
  std::vector<Blocks> ranks;
  std::vector<Rearrangement::Limits> limits;
  int size() const { return static_cast<int>(ranks.size()); }
};

// What goes on next. The network keeps messages of a pair in order and may do all else.
struct Schedule {
  std::uint32_t seed = 1;
  // how often to ask, answer, deliver, let a send end; the first that can go on does so if the one
  // drawn cannot
  std::array<int, 4> weights = {1, 1, 1, 1};
  enum { any, oldest, newest } which = any;  // among all that could be done
  int victim = -1;                           // only when nothing else can go on does this rank
  int window = 4;                            // pieces that a rank asks for at a time
  bool shorten = false;                      // some pieces
  bool cut = true;                           // answers into several messages
};

class Network {
 public:
  Network(const Case& c, const Schedule& schedule)
      : case_(c), schedule_(schedule), random_(schedule.seed) {
    const auto ranks = static_cast<std::size_t>(c.size());
    for (int r = 0; r < c.size(); ++r) nodes_.emplace_back(r, c);
    requests_.resize(ranks * ranks), data_.resize(ranks * ranks);
  }

  // Twice, because exchanges can be started again.
  void run() {
    for (int round = 0; round < 2; ++round) {
      for (Node& node : nodes_) node.fill(), node.machine.start();
      while (step())
        if (testing::Test::HasFailure()) return;
      check();
      if (testing::Test::HasFailure()) return;
    }
  }
  std::uint64_t messages() const { return messages_; }

 private:
  struct Node {
    Node(int r, const Case& c) : rank(r), machine(r, c.ranks[r], c.limits[r]) {
      room.resize(machine.room());
      EXPECT_LE(machine.room(), std::max<std::uint64_t>(c.limits[r].room, 1));
      const Blocks& b = c.ranks[r];
      Slot end = 0;
      for (const auto* side : {&b.send, &b.recv})
        for (const Slots& block : *side) blocks += !block.empty(), end = std::max(end, block.end);
      buffer.resize(end + 5);  // nobody may touch the last five
      for (const Slots& block : b.recv) lacking += block.size();
    }
    void fill() {
      for (Slot s = 0; s < buffer.size(); ++s)
        buffer[s] = (Cell{1} + static_cast<Cell>(rank)) << 32 | s;
      parked.assign(buffer.size(), 0);
      under_way = answered = idle = 0;
    }
    Cell& at(Slot s) {
      return s < machine.room_begin() ? buffer[s] : room[s - machine.room_begin()];
    }

    int rank;
    Rearrangement machine;
    std::vector<Cell> buffer, room;
    std::vector<int> parked;        // times, by slot
    std::vector<Slots> being_sent;  // arrived, but this rank does not know yet
    int under_way = 0;              // pieces
    // pieces; those asked for when none was under way
    std::uint64_t answered = 0, idle = 0, blocks = 0, lacking = 0;
  };
  struct Message {
    Slots from;
    Slot to;
    bool last;
    Rearrangement::Piece piece;
  };

  bool avoid(int rank) const { return rank == schedule_.victim && !desperate_; }

  template <class Queues>
  int choose(const Queues& queues, bool by_target) {
    std::vector<int> found;
    for (std::size_t k = 0; k < queues.size(); ++k)
      if (!queues[k].empty() &&
          !avoid(static_cast<int>(by_target ? k % nodes_.size() : k / nodes_.size())))
        found.push_back(static_cast<int>(k));
    if (found.empty()) return -1;
    if (schedule_.which == Schedule::oldest) return found.front();
    if (schedule_.which == Schedule::newest) return found.back();
    return found[random_() % found.size()];
  }

  bool step() {
    const int all = std::accumulate(schedule_.weights.begin(), schedule_.weights.end(), 0);
    for (bool desperate : {false, true}) {
      desperate_ = desperate;
      int drawn = static_cast<int>(random_() % static_cast<unsigned>(all)), kind = 0;
      while (drawn >= schedule_.weights[kind]) drawn -= schedule_.weights[kind++];
      for (int k = 0; k < 4; ++k)
        if (act((kind + k) % 4)) return true;
    }
    return false;
  }
  bool act(int kind) {
    switch (kind) {
      case 0:
        return ask();
      case 1:
        return answer();
      case 2:
        return deliver();
      default:
        return end_send();
    }
  }

  bool ask() {
    const std::size_t first = schedule_.which == Schedule::any ? random_() % nodes_.size() : 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      Node& node = nodes_[(first + k) % nodes_.size()];
      if (avoid(node.rank) || node.under_way == schedule_.window) continue;
      const auto piece = node.machine.propose();
      if (!piece) continue;
      node.idle += node.under_way == 0;
      claim(node, shortened(*piece));
      return true;
    }
    return false;
  }
  // Callers may ask for less.
  Rearrangement::Piece shortened(Rearrangement::Piece piece) {
    if (!schedule_.shorten || random_() % 3) return piece;
    const std::uint64_t front = pick(random_, 0, piece.to.size() - 1);
    piece.offset += front;
    piece.to.begin += front;
    piece.to.end = piece.to.begin + pick(random_, 1, piece.to.size());
    return piece;
  }
  void claim(Node& node, const Rearrangement::Piece& piece) {
    ASSERT_FALSE(piece.to.empty());
    ASSERT_LE(piece.to.size(), std::max<std::uint64_t>(case_.limits[node.rank].piece, 1));
    std::vector<Rearrangement::Park> parks;
    node.machine.claim(piece, parks);
    for (const auto& park : parks)
      for (Slot k = 0; k < park.from.size(); ++k) {
        ASSERT_EQ(++node.parked[park.from.begin + k], 1) << "slots move inside of a rank once";
        node.at(park.to + k) = node.at(park.from.begin + k);
        node.at(park.from.begin + k) = random_();
      }
    ++node.under_way;
    ++messages_;
    requests_[static_cast<std::size_t>(piece.from) * nodes_.size() +
              static_cast<std::size_t>(node.rank)]
        .push_back(piece);
    check_fragments(node);
  }

  bool answer() {
    const int k = choose(requests_, false);
    if (k < 0) return false;
    Node& node = nodes_[static_cast<std::size_t>(k) / nodes_.size()];
    const int to = k % static_cast<int>(nodes_.size());
    const Rearrangement::Piece piece = requests_[k].front();
    requests_[k].pop_front();
    std::vector<Slots> places;
    node.machine.take(to, piece.offset, piece.to.size(), places);
    ++node.answered;
    Slot target = piece.to.begin;
    for (Slots place : places)
      while (!place.empty()) {  // as many messages as the sender likes
        const std::uint64_t size =
            !schedule_.cut || random_() % 3 ? place.size() : pick(random_, 1, place.size());
        data_[k].push_back({{place.begin, place.begin + size}, target, false, piece});
        place.begin += size, target += size;
      }
    EXPECT_EQ(target, piece.to.end);
    data_[k].back().last = true;
    check_fragments(node);
    return true;
  }

  bool deliver() {
    const int k = choose(data_, true);
    if (k < 0) return false;
    Node &from = nodes_[static_cast<std::size_t>(k) / nodes_.size()],
         &to = nodes_[static_cast<std::size_t>(k) % nodes_.size()];
    const Message message = data_[k].front();
    data_[k].pop_front();
    for (Slot i = 0; i < message.from.size(); ++i)
      to.at(message.to + i) = from.at(message.from.begin + i);
    from.being_sent.push_back(message.from);
    if (message.last) to.machine.received(message.piece), --to.under_way;
    return true;
  }

  bool end_send() {
    const std::size_t first = schedule_.which == Schedule::any ? random_() % nodes_.size() : 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      Node& node = nodes_[(first + k) % nodes_.size()];
      if (node.being_sent.empty() || avoid(node.rank)) continue;
      std::swap(node.being_sent[random_() % node.being_sent.size()], node.being_sent.back());
      const Slots place = node.being_sent.back();
      node.being_sent.pop_back();
      // free: whoever still needs it will notice
      for (Slot s = place.begin; s < place.end; ++s) node.at(s) = random_();
      node.machine.sent(place);
      check_fragments(node);
      return true;
    }
    return false;
  }

  void check_fragments(const Node& node) const {
    ASSERT_LE(node.machine.fragments(), 4 * (node.blocks + node.machine.pieces() + node.answered) +
                                            node.being_sent.size() + 1);
  }

  void check() {
    for (Node& node : nodes_) {
      ASSERT_TRUE(node.machine.complete()) << "deadlock";
      ASSERT_TRUE(node.machine.all_taken());
      ASSERT_EQ(node.machine.under_way(), 0u);
      ASSERT_EQ(node.machine.parked_in_all(),
                std::accumulate(node.parked.begin(), node.parked.end(), 0u));
      const std::uint64_t step =
          std::clamp<std::uint64_t>(case_.limits[node.rank].room / 4, 1,
                                    std::max<std::uint64_t>(case_.limits[node.rank].piece, 1));
      const std::uint64_t most_pieces = node.blocks + 8 * node.lacking / step + 2 * node.idle;
      ASSERT_TRUE(schedule_.shorten || node.machine.pieces() <= most_pieces)
          << node.machine.pieces() << " of " << most_pieces;
      check_buffer(node);
    }
  }
  void check_buffer(const Node& node) const {
    std::vector<bool> known(node.buffer.size(), true);
    std::vector<Cell> expected(node.buffer.size());
    for (Slot s = 0; s < expected.size(); ++s)
      expected[s] = (Cell{1} + static_cast<Cell>(node.rank)) << 32 | s;
    for (const Slots& block : case_.ranks[node.rank].send)
      for (Slot s = block.begin; s < block.end; ++s) known[s] = false;
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      const Slots to = case_.ranks[node.rank].recv[j], from = case_.ranks[j].send[node.rank];
      for (Slot k = 0; k < to.size(); ++k)
        known[to.begin + k] = true, expected[to.begin + k] = (Cell{1} + j) << 32 | (from.begin + k);
    }
    for (Slot s = 0; s < expected.size(); ++s)
      ASSERT_TRUE(!known[s] || node.buffer[s] == expected[s])
          << "slot " << s << " of rank " << node.rank;
  }

  const Case& case_;
  Schedule schedule_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<std::deque<Rearrangement::Piece>> requests_;  // by sender and receiver
  std::vector<std::deque<Message>> data_;
  bool desperate_ = false;
  std::uint64_t messages_ = 0;
};

using Sizes = std::vector<std::vector<std::uint64_t>>;  // by sender and receiver

// Blocks of these sizes one behind the other in this order, with gaps of up to most_gap.
std::vector<Slots> lay_out(Random& random, const std::vector<std::uint64_t>& sizes,
                           std::vector<int> order, Slot begin, std::uint64_t most_gap) {
  std::vector<Slots> blocks(sizes.size());
  for (int j : order) {
    begin += pick(random, 0, most_gap);
    blocks[j] = {begin, begin + sizes[j]};
    begin += sizes[j];
  }
  return blocks;
}

std::vector<int> random_order(Random& random, int n, bool shuffled) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  return order;
}

std::vector<std::uint64_t> column(const Sizes& sizes, int j) {
  std::vector<std::uint64_t> all;
  for (const auto& row : sizes) all.push_back(row[j]);
  return all;
}

Case random_places(Random& random, const Sizes& sizes) {
  Case c;
  const int n = static_cast<int>(sizes.size());
  const bool shuffled = random() % 2;
  const std::uint64_t gap = random() % 2 ? 0 : pick(random, 0, 4),
                      offset = random() % 2 ? 0 : pick(random, 0, 20);
  for (int r = 0; r < n; ++r)
    c.ranks.push_back(
        {lay_out(random, sizes[r], random_order(random, n, shuffled), pick(random, 0, offset), gap),
         lay_out(random, column(sizes, r), random_order(random, n, shuffled),
                 pick(random, 0, offset), gap)});
  return c;
}

void random_limits(Random& random, Case& c) {
  const int kind = static_cast<int>(pick(random, 0, 3));
  for (int r = 0; r < c.size(); ++r) {
    const std::uint64_t room = kind == 0   ? 1
                               : kind == 1 ? pick(random, 0, 5)
                               : kind == 2 ? pick(random, 8, 40)
                                           : 1000;
    c.limits.push_back({room, random() % 4 ? pick(random, 1, 12) : pick(random, 0, 1000)});
  }
}

Schedule random_schedule(Random& random) {
  Schedule s;
  s.seed = static_cast<std::uint32_t>(random());
  s.which = static_cast<decltype(s.which)>(pick(random, 0, 2));
  s.window = static_cast<int>(pick(random, 1, 6));
  s.victim = static_cast<int>(pick(random, 0, 8)) - 4;
  s.shorten = random() % 4 == 0;
  if (random() % 2)
    for (int& weight : s.weights) weight = random() % 2 ? 0 : static_cast<int>(pick(random, 1, 30));
  if (std::accumulate(s.weights.begin(), s.weights.end(), 0) == 0) s.weights[random() % 4] = 1;
  return s;
}

enum class Shape { random, sparse, rotation, transpose, to_one, from_one, cycle, count };

Sizes sizes_of(Random& random, Shape shape, int n) {
  Sizes sizes(n, std::vector<std::uint64_t>(n, 0));
  const std::uint64_t most = pick(random, 1, 12), shift = pick(random, 0, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) switch (shape) {
        case Shape::random:
          sizes[i][j] = pick(random, 0, most);
          break;
        case Shape::sparse:
          sizes[i][j] = random() % 4 ? 0 : pick(random, 0, 3 * most);
          break;
        case Shape::rotation:
          sizes[i][j] = j == (i + static_cast<int>(shift)) % n ? 4 * most : 0;
          break;
        case Shape::transpose:
          sizes[i][j] = most;
          break;
        case Shape::to_one:
          sizes[i][j] = j == static_cast<int>(shift) % n ? pick(random, 0, most) : 0;
          break;
        case Shape::from_one:
          sizes[i][j] = i == static_cast<int>(shift) % n ? pick(random, 0, most) : 0;
          break;
        default:
          sizes[i][j] = j == (i + 1) % n || j == (i + 2) % n ? most : 0;
      }
  return sizes;
}

void expect_exchanged(const Case& c, const Schedule& schedule) { Network(c, schedule).run(); }

TEST(Rearrangement, RandomCasesUnderRandomSchedules) {
  for (std::uint32_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int ranks = static_cast<int>(random() % 4 ? pick(random, 1, 6) : pick(random, 1, 12));
    Case c = random_places(
        random,
        sizes_of(random, static_cast<Shape>(seed % static_cast<unsigned>(Shape::count)), ranks));
    random_limits(random, c);
    expect_exchanged(c, random_schedule(random));
    if (testing::Test::HasFailure()) return;
  }
}

// Every buffer is full, and one slot is all the room there is: each way to permute blocks, under
// each schedule that prefers one thing to all others.
TEST(Rearrangement, FullBuffersWithRoomForOneSlot) {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (int shift = 0; shift < ranks; ++shift)
      for (int preferred = 0; preferred < 4; ++preferred)
        for (int victim = -1; victim < ranks; ++victim) {
          Sizes sizes(ranks, std::vector<std::uint64_t>(ranks, 0));
          for (int i = 0; i < ranks; ++i)
            sizes[i][(i + shift) % ranks] += 5, sizes[i][(i + 1) % ranks] += 3;
          Random random(static_cast<unsigned>(ranks * 100 + shift));
          Case c;
          for (int r = 0; r < ranks; ++r)
            c.ranks.push_back(
                {lay_out(random, sizes[r], random_order(random, ranks, shift % 2), 0, 0),
                 lay_out(random, column(sizes, r), random_order(random, ranks, shift % 2), 0, 0)});
          c.limits.assign(ranks, {1, 100});
          Schedule schedule{7, {0, 0, 0, 0}, Schedule::oldest, victim, 3};
          schedule.weights[preferred] = 1;
          expect_exchanged(c, schedule);
          if (testing::Test::HasFailure())
            FAIL() << ranks << " ranks, shift " << shift << ", " << preferred << " first, victim "
                   << victim;
        }
}

// Two ranks, blocks of at most two slots, every place of every block.
TEST(Rearrangement, AllSmallCasesOfTwoRanks) {
  Random none(1);
  std::uint32_t seed = 0;
  for (int number = 0; number < 81; ++number) {
    const Sizes sizes = {
        {static_cast<unsigned>(number % 3), static_cast<unsigned>(number / 3 % 3)},
        {static_cast<unsigned>(number / 9 % 3), static_cast<unsigned>(number / 27)}};
    for (int places = 0; places < 4 * 4 * 4 * 4; ++places) {
      Case c;
      for (int r = 0; r < 2; ++r) {
        const int place = r ? places / 16 : places % 16;
        const auto side = [&](int bits, const std::vector<std::uint64_t>& of) {
          return lay_out(none, of, bits & 1 ? std::vector{1, 0} : std::vector{0, 1},
                         bits & 2 ? 1 : 0, 0);
        };
        c.ranks.push_back({side(place & 3, sizes[r]), side(place >> 2, column(sizes, r))});
      }
      c.limits.assign(2, {1, 1 + seed % 3});
      Schedule schedule;
      schedule.seed = ++seed;
      expect_exchanged(c, schedule);
      if (testing::Test::HasFailure()) FAIL() << number << ' ' << places;
    }
  }
}

// A swap of two full buffers: data is parked once at most, and pieces keep their full length.
TEST(Rearrangement, ALargeSwapAsksForFullPieces) {
  Case c;
  for (int r = 0; r < 2; ++r) {
    std::vector<Slots> blocks(2);
    blocks[1 - r] = {0, 4096};
    c.ranks.push_back({blocks, blocks});
  }
  c.limits.assign(2, {256, 64});
  Schedule schedule;
  schedule.cut = false;
  Network network(c, schedule);
  network.run();
  EXPECT_EQ(network.messages(), 2u * 2 * 4096 / 64);
}

// Whatever fits without anybody being in the way goes in pieces of full length even without room.
TEST(Rearrangement, WithoutOverlapNoRoomIsNeeded) {
  const Rearrangement machine(0, {{{0, 0}, {0, 100}}, {{0, 0}, {100, 200}}}, {1, 64});
  EXPECT_EQ(machine.room(), 0u);
  EXPECT_EQ(machine.propose()->to, (Slots{100, 164}));
}

TEST(Rearrangement, WhatStaysTakesNoPart) {
  Rearrangement machine(0, {{{0, 50}, {50, 60}}, {{0, 50}, {50, 60}}}, {1000, 1000});
  EXPECT_EQ(machine.room(), 10u);
  EXPECT_EQ(machine.propose()->to, (Slots{50, 60}));
}

TEST(Rearrangement, OverlappingBlocksAreRefused) {
  using test::error_of;
  const auto send = error_of(
      [] { Rearrangement(0, {{{0, 5}, {10, 20}, {4, 6}}, {{0, 0}, {0, 0}, {0, 0}}}, {}); });
  EXPECT_EQ(send.code(), Errc::buffers);
  EXPECT_EQ(
      std::string(send.what()),
      "the send blocks for the ranks 0 and 2 overlap; only send blocks with receive blocks may");
  const auto recv = error_of([] { Rearrangement(0, {{{0, 0}, {0, 0}}, {{7, 9}, {0, 8}}}, {}); });
  EXPECT_EQ(recv.code(), Errc::buffers);
  EXPECT_NE(std::string(recv.what()).find("receive blocks"), std::string::npos);
  // Also where one of them stays in its place.
  EXPECT_EQ(error_of([] { Rearrangement(0, {{{0, 5}, {4, 6}}, {{0, 5}, {0, 0}}}, {}); }).code(),
            Errc::buffers);
}

TEST(Rearrangement, AskingForWhatIsNotThereIsAnError) {
  Rearrangement machine(0, {{{0, 0}, {0, 8}}, {{0, 0}, {0, 8}}}, {});
  std::vector<Slots> places;
  EXPECT_EQ(test::error_of([&] { machine.take(1, 4, 5, places); }).code(), Errc::internal);
  EXPECT_EQ(test::error_of([&] { machine.take(1, 9, 0, places); }).code(), Errc::internal);
  machine.take(1, 4, 4, places);
  EXPECT_EQ(places, (std::vector<Slots>{{4, 8}}));
}

}  // namespace
}  // namespace tonari
