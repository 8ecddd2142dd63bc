// SPDX-License-Identifier: BSD-3-Clause
// Builds a plan from operations given in an order in which they could run one after the other. The
// builder finds what really has to wait: a reader for the writer of its block, a writer for earlier
// readers and writers. Everything else stays parallel.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tonari {

class Builder {
 public:
  // recv_blocks: number of blocks of the receive buffer.
  Builder(int rank, std::size_t recv_blocks);
  void reserve(std::size_t operations, std::size_t slices);

  // A new scratch block of the size of block `like` of the send buffer, or `foreign`.
  Slice scratch(std::uint32_t like);

  // Slices are collected first, then closed into an operation: slice(a); slice(b); send(peer, tag).
  void slice(Slice s) { plan_.slices_.push_back(s); }
  std::size_t pending() const { return plan_.slices_.size() - closed_; }
  OpId send(int peer, int tag);
  OpId recv(int peer, int tag);
  OpId copy(std::span<const Slice> sources, std::span<const Slice> targets);
  OpId exchange(int peer, int tag);  // of receive blocks

  // The later operation `op` waits for `before` for a reason that no slice tells, such as memory.
  void after(OpId before, OpId op);

  // Allows at most `ports` messages out and `ports` messages in at any time: the k-th send
  // (receive) waits for the send and the receive `ports` rounds before. A round is a tag; tags must
  // be given in ascending order.
  void limit_ports(int ports);

  Plan build();

 private:
  struct Reader {
    OpId op;
    std::uint32_t next;
  };
  struct Slot {
    OpId writer = none;
    std::uint32_t readers = none;  // list in readers_
  };
  static constexpr std::uint32_t none = ~0u;

  OpId close(Kind kind, int peer, int tag);
  void read(OpId op, Slice s);
  void write(OpId op, Slice s);
  void depend(OpId before, OpId after);
  Slot& slot(Slice s) {
    return slots_[s.buffer == Buffer::recv ? s.block : recv_blocks_ + s.block];
  }

  Plan plan_;
  std::size_t recv_blocks_;
  std::size_t closed_ = 0;
  std::vector<Slot> slots_;
  std::vector<Reader> readers_;
  // per operation: avoids most duplicate edges at once
  std::vector<OpId> last_successor_;
  std::vector<std::pair<OpId, OpId>> edges_;
};

}  // namespace tonari
