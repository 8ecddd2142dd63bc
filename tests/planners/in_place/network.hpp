// SPDX-License-Identifier: BSD-3-Clause
// The bookkeeping of all ranks over a simulated network, which a schedule makes kind or unkind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <random>

#include "planners/in_place/rearrangement.hpp"

namespace tonari::test {

using Random = std::mt19937;
using Cell = std::uint64_t;

inline std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high) {
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

}  // namespace tonari::test
