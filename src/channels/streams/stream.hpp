// SPDX-License-Identifier: BSD-3-Clause
// A stream of messages of any size from one rank to another: what one-shot calls send, who agree on
// nothing beforehand (ADR 20). A message is a head and its bytes, in one part or several. Its sizes
// are known from the head alone.
//
// None of these functions blocks or calls a collective. What they need of memory for messages of a
// size they keep from the first on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/checked.hpp"

namespace tonari {

// What a message says of itself. An exchange has one for each of its edges, or for all of them that
// lead to one rank.
struct MessageHead {
  enum Kind : std::uint32_t {
    packed,  // the bytes follow
    listed,  // Pieces follow: where the bytes lie in the sender's memory
    failed,  // what follows is a sentence; `detail` is the error's code
    // of a call that combines (one_shot/hop_exchange.hpp): `detail` is the operation and the
    // message's tag, `expected` the bytes of a block; if it failed, `sent` is the error's code
    hop,
    hop_failed,
  };
  Kind kind = packed;
  std::uint32_t detail = 0;  // of a failed message its code, else the collective
  // The sizes of all blocks from the sender to the receiver, and of those the other way: their sum,
  // and a print of them in their order.
  Bytes sent = 0;
  std::uint64_t sent_print = 0;
  Bytes expected = 0;
  std::uint64_t expected_print = 0;

  friend bool operator==(const MessageHead&, const MessageHead&) = default;
};

// Whether messages of so many bytes may come without a head where the last ones had the same. Both
// ends go by it. Shorter ones are not worth a receive of their own. A scattered message is put into
// one piece, in memory that the stream keeps: longer ones go in parts, so that each end keeps at
// most as much for a neighbor. That also fits into the counts of every MPI.
inline constexpr Bytes least_bare = 4096, most_bare = Bytes{16} << 20;
constexpr bool may_be_bare(Bytes bytes) { return bytes >= least_bare && bytes <= most_bare; }

class OutStream {
 public:
  virtual ~OutStream() = default;
  // Bytes of a part behind the head, and of a part without one. Constant.
  virtual std::size_t first_room() const = 0;
  virtual std::size_t room() const = 0;
  // Where the bytes of the next part go, now that it can be written; null: it cannot yet.
  virtual std::byte* first() = 0;
  virtual std::byte* more() = 0;
  virtual void push_first(const MessageHead& head, std::size_t bytes) = 0;
  virtual void push_more(std::size_t bytes) = 0;
  // Whether parts of so many bytes behind the head are this rank's concern until they are taken.
  virtual bool stays(Bytes bytes) const = 0;
  // Whether nothing of the last message needs this rank any more; asked of listed messages and of
  // those that stay.
  virtual bool taken() = 0;
  // Whether a message goes without its head. Then push_bare() sends so many bytes from where they
  // are, which stay there until they are taken: of the program, or bare_place().
  virtual bool is_bare(const MessageHead& /*head*/, Bytes /*bytes*/) const { return false; }
  virtual std::byte* bare_place(Bytes /*bytes*/) { return nullptr; }
  virtual void push_bare(const std::byte* /*at*/, Bytes /*bytes*/) {}
};

class InStream {
 public:
  virtual ~InStream() = default;
  // The bytes of the part that is next, once it has arrived; else null.
  virtual const std::byte* first(MessageHead& head, std::size_t& bytes) = 0;
  // Of a message of which `left` bytes are still to come.
  virtual const std::byte* more(Bytes left, std::size_t& bytes) = 0;
  virtual void release() = 0;  // the part was read
  // The head of the next message if it may come without; else null. Then expect_bare() says where
  // its bytes go, null: to memory of the stream. first() returns the place, all bytes are there.
  virtual const MessageHead* bare_head() const { return nullptr; }
  virtual void expect_bare(std::byte* /*to*/, Bytes /*bytes*/) {}
  virtual void expect_nothing() {}  // takes that back
};

}  // namespace tonari
