// SPDX-License-Identifier: BSD-3-Clause
// One message of a plan over a channel other than MPI point to point, such as shared memory or
// one-sided. The engine packs and unpacks; the compiler makes the moves from where the edge says
// that its messages lie. The edge knows when that may happen, and tells the other end.
//
// A message travels in one or more parts, one after the other. Messages of successive exchanges
// alternate between two places (parity), so a sender need not wait for the receiver's start.
// None of these functions blocks, allocates or calls a collective.
//
// The order of the engine's calls (engine/run/edge_queue.cpp), in exchanges of parity 0, 1, 0, ...:
//   sender:   for each part may_write until it says yes, then written; at the end sent, likewise
//   receiver: for each part arrived until it says yes, then taken
// `taken` of a message comes before `arrived` of the next one, at the latest when that exchange is
// started: a message of one part stays where it arrived while its blocks are passed on or viewed.
// No exchange is started before `sent` was true, so one place may do at the sender. The engine asks
// while the rank tests or waits: an edge that moves bytes itself does so when it is asked. Only a
// yes counts as progress; between others a rank may sleep, so who moves long messages bit by bit
// should have parts. No edge is for an empty message or for one to its own rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "memory/process.hpp"

namespace tonari {

// A message for a channel, as either end knows it.
struct EdgeMessage {
  std::int32_t peer = 0, tag = 0;  // `tag`: unique per ordered pair of ranks, the same at both ends
  Bytes bytes = 0;
};

// The place of a part of a message while it is packed or unpacked.
struct MessageSlot {
  Bytes begin = 0, end = 0;  // the part is these bytes of the message
  // the address of `begin` for either parity; null: the edge moves the bytes itself
  std::array<std::byte*, 2> at{};
  // the last tail_bytes of the part lie here instead (a word that is stored last)
  std::byte* tail = nullptr;
  Bytes tail_bytes = 0;
};

class OutEdge {
 public:
  virtual ~OutEdge() = default;
  // at least one; do not change while the edge lives
  virtual const std::vector<MessageSlot>& slots() const = 0;
  // Where the bytes of the message lie, if its only slot has no address. Before the first exchange,
  // and again between two of them: as many pieces, of the same lengths.
  virtual void bound(std::span<const Piece> pieces) { (void)pieces; }

  virtual bool may_write(std::size_t part, int parity) = 0;  // the place is free
  virtual void written(std::size_t part, int parity) = 0;    // the part is packed and may leave
  // whether the message needs nothing here any more; asked after the last part was written
  virtual bool sent(int parity) = 0;
  // `sent` is expensive, and serves all edges at once: ask it when all are written
  virtual bool sent_together() const { return false; }
  // This end stops for good: tells the other one, if it can, as its destructor does.
  virtual void leave() {}
  // throws Errc::peer if the receiver has ended or left, and so takes nothing more; asked in waits
  // that are longer than tonari_timeout (Settings::timeout), before a last look
  virtual void check() const {}
};

class InEdge {
 public:
  virtual ~InEdge() = default;
  virtual const std::vector<MessageSlot>& slots() const = 0;
  // the place that the bytes go to, as in OutEdge
  virtual void bound(std::span<const Piece> pieces) { (void)pieces; }

  // the part can be unpacked; asked in the order of parts
  virtual bool arrived(std::size_t part, int parity) = 0;
  virtual void taken(std::size_t part, int parity) = 0;  // unpacked: the place is free again
  virtual void leave() {}                                // as in OutEdge
  // throws Errc::peer if the sender has ended or left, and so nothing more comes
  virtual void check() const {}
};

}  // namespace tonari
