// SPDX-License-Identifier: BSD-3-Clause
// Messages through shared memory as the engine would move them, with ranks that dawdle.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/hash.hpp"
#include "channels/shared/link.hpp"
#include "support/mpi_main.hpp"

namespace tonari::test {

inline std::shared_ptr<const Node> whole_node() {
  return std::make_shared<const Node>(MPI_COMM_WORLD, world_rank());
}

// Of all ranks, which are those of the node.
inline std::map<std::int32_t, SegmentName> all_names(const SegmentName& mine) {
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

// The bytes of a message. In some exchanges the message ends in the canary, or consists of nothing
// else.
class Content {
 public:
  Content(const Edge& e, int exchange) {
    message_.word(e.from).word(e.to).word(e.tag).word(exchange);
    const std::uint64_t kind = Hash(message_).word(~Bytes{0}).value() % 6;
    if (kind <= 2)
      canary_from_ = kind == 0 ? 0 : (e.bytes - 1) / sizeof(Cell::Word) * sizeof(Cell::Word);
  }
  std::byte operator[](Bytes k) const {
    if (k >= canary_from_)
      return static_cast<std::byte>(Cell::canary >> 8 * (k % sizeof(Cell::Word)));
    return static_cast<std::byte>(Hash(message_).word(k).value() >> 20);
  }

 private:
  Hash message_;  // of all but the byte: most of a test's time is spent on bytes
  Bytes canary_from_ = ~Bytes{0};
};

// Small ones, so that all protocols occur with all numbers of parts.
inline SharedLimits small_limits(bool single_copy, bool views) {
  SharedLimits limits;
  limits.canary = 40;
  limits.whole = 300;
  limits.chunk = 100;
  limits.single_copy = single_copy ? 700 : 0;
  limits.views = views;
  return limits;
}

// Lengths around all limits, and around whole words, cells and parts.
inline Bytes random_length(std::mt19937& random, const SharedLimits& limits) {
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

inline std::vector<Edge> random_graph(std::mt19937& random, const SharedLimits& limits) {
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
        m.memory->each_byte(
            [content = Content(m.edge, exchange_)](Bytes b, std::byte& to) { to = content[b]; });
      else
        write(edge.slots()[m.part], m.edge);
      edge.written(m.part, parity_);
    }
    return edge.sent(parity_);
  }
  void write(const MessageSlot& slot, const Edge& e) const {
    const Bytes tail = slot.end - slot.tail_bytes;
    const Content content(e, exchange_);
    std::byte* const at = slot.at[static_cast<std::size_t>(parity_)];
    for (Bytes b = slot.begin; b < tail; ++b) at[b - slot.begin] = content[b];
    for (Bytes b = tail; b < slot.end; ++b) slot.tail[b - tail] = content[b];
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
    const Content content(m.edge, exchange_);
    Bytes wrong = 0;
    const MessageSlot& slot = link_->in(k).slots()[views_ ? 0 : m.part];
    const std::byte* const at = slot.at[static_cast<std::size_t>(parity_)];
    if (m.memory)
      m.memory->each_byte([&](Bytes b, std::byte& is) { wrong += is != content[b]; });
    else
      for (Bytes b = slot.begin; b < slot.end; ++b) wrong += at[b - slot.begin] != content[b];
    EXPECT_EQ(wrong, 0u) << "of " << m.edge.bytes << " bytes from rank " << m.edge.from << ", part "
                         << m.part << " in exchange " << exchange_;
  }

  bool views_;
  std::vector<Message> sends_, recvs_;
  std::unique_ptr<SharedLink> link_;
  std::size_t by_itself_ = 0, most_parts_ = 0;
  int exchange_ = 0, parity_ = 0;
};

inline void dawdle(std::mt19937& random) {
  if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

// False, with a failure, if that takes minutes.
inline bool finish(Player& player) {
  const auto begin = std::chrono::steady_clock::now();
  while (!player.test()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() - begin < std::chrono::minutes(10)) continue;
    ADD_FAILURE() << "an exchange does not complete";
    return false;
  }
  return true;
}

}  // namespace tonari::test
