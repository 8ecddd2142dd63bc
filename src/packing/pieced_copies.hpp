// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of an exchange through pinned memory, cut into pieces: while one piece is sent,
// the device packs the next ones, and what has come is unpacked while others still come.
//
//   device    | pack 0 | pack 1 | pack 2 |
//             .        | unpack 0 | unpack 1 |
//   messages  .        | send 0 | send 1 | send 2 |
//             | receive 0 | receive 1 |
//
// Each piece has pinned memory, a launch and an event of its own. Nothing here waits: each step
// does what is possible, and somebody repeats them until all is complete.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "packing/pinned_copy.hpp"

namespace tonari {

// The messages of each piece. Whoever makes the copies knows what carries them.
class PieceMessages {
 public:
  virtual ~PieceMessages() = default;
  virtual void send(std::size_t piece) = 0;      // it is packed
  virtual void receive(std::size_t piece) = 0;   // its pinned memory is free
  virtual bool sent(std::size_t piece) = 0;      // its pinned memory may be written again
  virtual bool received(std::size_t piece) = 0;  // all of it
};

class PiecedCopies {
 public:
  using Pieces = std::vector<std::unique_ptr<PinnedCopy>>;
  // All on one device; at least one. Throws as the device does.
  PiecedCopies(Pieces out, Pieces in);

  const PinnedCopy& any() const { return out_.empty() ? *in_.front() : *out_.front(); }
  const Pieces& out() const { return out_; }
  const Pieces& in() const { return in_; }
  Bytes bytes() const;  // of pinned memory

  // Puts all packing into the stream, and everything behind what that holds. Without one, what the
  // program has done is complete, and a stream of the first piece packs. Not before the last
  // exchange is complete.
  void start_on(std::optional<DeviceStream> stream);

  // Where the program does not say it.
  DeviceStream unpacks_on() const { return unpacks_; }
  // The steps. They return whether anything went on.
  bool send_packed(PieceMessages& messages);
  bool receive_all(PieceMessages& messages);
  bool unpack_received(PieceMessages& messages, DeviceStream stream);
  // All is sent, and all that came is at least put into a stream to be unpacked.
  bool put(PieceMessages& messages);
  // What is not complete yet: the sending of a piece, and its receiving.
  bool sends(std::size_t piece) const { return piece >= sent_; }
  bool receives(std::size_t piece) const { return !put_[piece]; }
  // All that was put is unpacked.
  bool unpacked();

  // What the stream gets from now on sees the blocks. All is put.
  void order_behind(DeviceStream stream);
  // Waits for unpacking, then as LaunchedCopies::move_to.
  void move_to(std::span<const std::ptrdiff_t> shifts);
  void check_reach(std::span<const std::ptrdiff_t> shifts) const;

 private:
  Pieces out_, in_;
  HeldOnDevice held_;
  DeviceStream unpacks_;                // unpacking need not come behind packing
  DeviceEvent free_;                    // all that comes may be received
  std::size_t started_ = 0, sent_ = 0;  // pieces that are sent, from the first one on
  bool receiving_ = true;
  std::vector<bool> put_;  // of the pieces that come
};

}  // namespace tonari
