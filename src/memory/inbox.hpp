// SPDX-License-Identifier: BSD-3-Clause
// What a rank receives through shared memory: one segment per request and rank. The receiver makes
// it, and its senders write it.
//
//   header | a lane for every message | the cells of all lanes
//
// A lane says which rank sends, how long the message is and by which protocol it travels. A sender
// finds its lane by its rank and the message's tag.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/cell.hpp"
#include "memory/segment.hpp"

namespace tonari {

enum class Protocol : std::uint32_t {
  canary,  // small: two cells in turn; data and completion are one write
  mark,    // two cells, announced by the mark behind the data
  // large: a few smaller cells in turn; the sender writes a part while the receiver reads another
  pipelined,
  // large: the cell says where the sender's bytes are, and the receiver reads them there
  // (process_vm_readv)
  single_copy,
};

// A message that the receiver expects.
struct Expected {
  std::int32_t from = 0, tag = 0;
  std::uint64_t bytes = 0;
  Protocol protocol = Protocol::mark;
  std::uint64_t chunk = 0;  // pipelined: bytes of one part
  std::uint32_t cells = 4;  // pipelined: cells used in turn, at most Lane::pipeline_cells
};

struct Lane {
  static constexpr std::uint32_t pipeline_cells = 4;  // at most

  std::int32_t from, tag;
  std::uint64_t bytes;
  Protocol protocol;
  std::uint32_t cells;
  std::uint64_t payload;  // of one cell
  std::uint64_t at;       // of the first cell, from the segment's first byte
  // Set when an end is freed; a rank that waits long for the other looks here.
  std::uint64_t sender_left, receiver_left;

  std::uint64_t parts() const {
    return protocol == Protocol::pipelined ? (bytes + payload - 1) / payload : 1;
  }
};

class Inbox {
 public:
  Inbox() = default;
  // Makes the receiver's inbox with all cells free. Throws Errc::memory.
  static Inbox make(std::span<const Expected> expected);
  // Opens it as a sender. Throws Errc::memory if it cannot be mapped or its content makes no sense.
  static Inbox attach(const SegmentName& name, Segment::Pages pages = Segment::Pages::now);

  std::span<Lane> lanes() const;
  // The lane of a message, as the sender sees it. Throws Errc::mismatch if none expects this length
  // from this rank and tag: the two ends planned differently.
  Lane& find(std::int32_t from, std::int32_t tag, std::uint64_t bytes) const;
  Cell cell(const Lane& lane, std::uint64_t k) const;
  void bring(const Lane& lane) const;  // the lane's cells only (Segment::bring)

  SegmentName name() const { return segment_.name(); }
  void finish_attach() { segment_.finish_attach(); }
  std::size_t bytes() const { return segment_.bytes(); }
  explicit operator bool() const { return static_cast<bool>(segment_); }

 private:
  Segment segment_;
};

}  // namespace tonari
