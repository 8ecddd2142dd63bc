// SPDX-License-Identifier: BSD-3-Clause
// The plan: one rank's part of an algorithm, as a DAG of operations over slices of three buffers.
//
// A plan knows ranks, buffers and blocks. It knows no MPI handle, datatype, address, size or
// topology: the layout that a plan is bound to tells where a block lies and how long it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tonari {

enum class Buffer : std::uint8_t { send, recv, scratch };

// One whole block of one buffer.
struct Slice {
  Buffer buffer;
  std::uint32_t block;
  friend bool operator==(const Slice&, const Slice&) = default;
};

enum class Kind : std::uint8_t {
  send,  // to peer: the slices, one after the other, as one message
  recv,  // from peer: one message into the slices
  copy,  // the first half of the slices to the second half, block by block
  // with peer: swaps the contents of the slices, all in the receive buffer, with those of its
  // exchange of the same tag, block by block
  exchange,
};

using OpId = std::uint32_t;

inline constexpr std::uint32_t foreign = ~std::uint32_t{0};

struct Operation {
  Kind kind;
  std::int32_t peer;  // rank; the plan's own for copies
  // unique among the messages of one ordered pair of ranks in one plan, and among their exchanges;
  // the step for planners with steps
  std::int32_t tag;
  std::uint32_t first_slice;
  std::uint32_t slice_count;
};

class Plan {
 public:
  int rank() const { return rank_; }
  std::span<const Operation> operations() const { return operations_; }
  std::size_t size() const { return operations_.size(); }
  const Operation& operator[](OpId op) const { return operations_[op]; }

  std::span<const Slice> slices(const Operation& op) const {
    return std::span(slices_).subspan(op.first_slice, op.slice_count);
  }
  std::span<const Slice> slices(OpId op) const { return slices(operations_[op]); }
  std::span<const Slice> copy_sources(const Operation& op) const {
    return slices(op).first(op.slice_count / 2);
  }
  std::span<const Slice> copy_targets(const Operation& op) const {
    return slices(op).last(op.slice_count / 2);
  }

  // The operations that may start once op is complete, and how many must be complete before op may
  // start.
  std::span<const OpId> successors(OpId op) const {
    return std::span(successors_)
        .subspan(successor_begin_[op], successor_begin_[op + 1] - successor_begin_[op]);
  }
  std::uint32_t predecessor_count(OpId op) const { return predecessor_counts_[op]; }

  // Scratch block k has the size of block scratch_like()[k] of the send buffer. If that is
  // `foreign`, it has the size of another rank's block, which is learned when it first arrives.
  std::span<const std::uint32_t> scratch_like() const { return scratch_like_; }

  // The same plan with receive block first + k in the place of scratch block k.
  Plan with_scratch_received(std::uint32_t first) const;

  // The longest chain of messages: 1 if nothing waits for anything.
  int depth() const;
  // Length of the longest chain of messages that ends with op; copies count nothing, and an
  // exchange is one message each way. A message arrives no earlier than this rank sends its own
  // with the same tag. That is exact where all ranks do alike (Träff 2016), and a lower bound
  // elsewhere.
  std::vector<int> levels() const;

 private:
  friend class Builder;
  int rank_ = 0;
  std::vector<Operation> operations_;
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> successor_begin_{0};
  std::vector<OpId> successors_;
  std::vector<std::uint32_t> predecessor_counts_;
  std::vector<std::uint32_t> scratch_like_;
};

}  // namespace tonari
