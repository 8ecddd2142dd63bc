// One message of a plan over a channel that is not MPI point to point: shared memory, one-sided.
// The engine packs and unpacks (the moves are made by the compiler, from where the edge says that
// its messages lie); the edge knows when that may happen and lets the other side know.
//
// A message travels in one or more parts, one after the other. Messages of successive exchanges
// alternate between two places (parity), so that a sender needs not wait for the receiver's start.
// None of these functions blocks, allocates or calls a collective.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "memory/process.hpp"

namespace tonari {

// A message that a channel is to carry, as either end knows it.
struct EdgeMessage {
  std::int32_t peer = 0, tag = 0;  // tag: unique per ordered pair of ranks, the same at both ends
  Bytes bytes = 0;
};

// Where a part of a message lies while it is packed or unpacked.
struct MessageSlot {
  Bytes begin = 0, end = 0;  // its bytes of the message
  // where `begin` lies, for either parity; null: the edge moves the bytes itself
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
  virtual void written(std::size_t part, int parity) = 0;    // the part is packed: let it go
  // the message no longer needs anything here; asked after the last part was written
  virtual bool sent(int parity) = 0;
  // sent is expensive, and serves all edges at once: better asked when all are written
  virtual bool sent_together() const { return false; }
  virtual void leave() {}  // this end will not go on
  // throws Errc::peer if the receiver has ended or left: it will take nothing more
  virtual void check() const {}
};

class InEdge {
 public:
  virtual ~InEdge() = default;
  virtual const std::vector<MessageSlot>& slots() const = 0;
  // where the bytes are to go, as in OutEdge
  virtual void bound(std::span<const Piece> pieces) { (void)pieces; }

  // and can be unpacked; asked in the order of parts
  virtual bool arrived(std::size_t part, int parity) = 0;
  virtual void taken(std::size_t part, int parity) = 0;  // unpacked: the place is free again
  virtual void leave() {}                                // as in OutEdge
  // throws Errc::peer if the sender has ended or left: nothing more will come
  virtual void check() const {}
};

}  // namespace tonari
