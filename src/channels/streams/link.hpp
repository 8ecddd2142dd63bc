// SPDX-License-Identifier: BSD-3-Clause
// The streams between a rank and its neighbors, one in each direction for every pair of ranks that
// have an edge: through shared memory on a node, else by MPI. They are all that one-shot calls
// share; exchanges take turns on each of them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "channels/connect.hpp"
#include "channels/streams/mpi_stream.hpp"
#include "channels/streams/told_numbers.hpp"
#include "memory/segment.hpp"

namespace tonari {

// Exchanges that send, or receive, are served in the order in which they began. Who is served may
// be driven by another thread than the one before.
class Queue {
 public:
  std::uint64_t join() { return last_++; }
  bool serves(std::uint64_t ticket) const { return now_.load(std::memory_order_acquire) == ticket; }
  void next() { now_.store(now_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  std::uint64_t last_ = 0;  // of the thread that begins exchanges
  std::atomic<std::uint64_t> now_ = 0;
};

// A neighbor, as the rank's lists tell.
struct NeighborEdges {
  std::int32_t rank = 0;
  // Blocks to it and from it, in the order in which they travel; those that it receives as the
  // receiver's program numbers them.
  std::vector<std::uint32_t> sent, received, received_numbers;
};

struct StreamPeer {
  NeighborEdges edges;
  std::vector<std::uint32_t> sent_numbers;  // of edges.sent, as the peer's program numbers them
  std::unique_ptr<OutStream> out;
  std::unique_ptr<InStream> in;
  Queue out_queue, in_queue;
  std::size_t index = 0;  // on the node
  bool shared = false, reads_memory = false;
};

class Streams {
 public:
  // Collective. neighbors: ascending ranks, without this one. comm, first_tag: for messages between
  // nodes; stream_tags tags belong to the streams. Where memory cannot be shared, all go by MPI.
  // board_bytes: the same on all ranks. Throws on all ranks what else went wrong.
  Streams(const ConnectComm& on, std::vector<NeighborEdges> neighbors,
          const std::shared_ptr<const OwnedComm>& comm, int first_tag, std::size_t board_bytes = 0);
  // Not collective, but all ranks must do the same: all messages go by MPI, also on a node. When
  // all ranks are known to have them, and before the first exchange, tell_numbers() is due.
  Streams(std::shared_ptr<const Node> node, std::int32_t rank, std::vector<NeighborEdges> neighbors,
          const std::shared_ptr<const OwnedComm>& comm, int first_tag);
  void tell_numbers();
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  std::size_t size() const { return count_; }
  StreamPeer& operator[](std::size_t k) { return peers_[k]; }
  const StreamPeer& operator[](std::size_t k) const { return peers_[k]; }
  const Node& node() const { return *node_; }
  std::int32_t rank() const { return rank_; }
  const std::shared_ptr<const OwnedComm>& comm() const { return comm_; }
  std::size_t bytes() const { return own_.bytes(); }  // of memory that is shared
  bool any_shared() const { return any_shared_; }

  // board_bytes bytes that this rank may write, and all its neighbors on the node may read; and
  // those of neighbor k. Aligned to 128 bytes, zeros at first. Where memory is shared.
  std::byte* board() const;
  std::byte* board(std::size_t k) const;

  // Call this before an error names blocks to the peer (StreamPeer::sent_numbers).
  void learn_numbers(StreamPeer& peer);

  // Throws Errc::peer if the peer has ended, or has left its streams.
  // error: of an attempt to reach its memory.
  void check(const StreamPeer& peer, int error = 0) const;
  // Whether what was read of the peer's own memory just now may no longer be what it sent.
  bool had_left(const StreamPeer& peer) const;
  // This rank does not go on: an exchange was given up in the middle. The others find out when they
  // have waited for long, and every later exchange on these streams fails.
  void leave() noexcept;
  bool left() const { return left_; }

 private:
  struct Rings;
  void make_peers(std::vector<NeighborEdges> neighbors, int first_tag);
  void make_rings(Rings& rings);
  std::vector<std::size_t> tell_all(const ConnectComm& on, Rings& rings);
  bool attach(const ConnectComm& on, Rings& rings);
  void open_mpi(StreamPeer& peer, int first_tag, std::size_t sent, std::size_t received);
  bool has_left_by_mpi(const StreamPeer& peer) const;

  std::shared_ptr<const Node> node_;
  std::shared_ptr<const OwnedComm> comm_;
  std::int32_t rank_;
  std::unique_ptr<StreamPeer[]> peers_;
  std::size_t count_ = 0;
  Segment own_;
  std::vector<Segment> theirs_;                // by number of the peer; empty: by MPI
  std::unique_ptr<ToldNumbers> told_numbers_;  // null: all know them
  int farewell_tag_ = 0;                       // to other nodes; an empty message
  bool any_shared_ = false, any_mpi_ = false, left_ = false;
};

}  // namespace tonari
