// SPDX-License-Identifier: BSD-3-Clause
// An exchange of blocks on a device through pinned memory of the host, in pieces that overlap
// (packing/pieced_copies.hpp). The MPI has the messages of each piece as persistent requests.
//
//   start     | put all packing, in a stream |
//   test      | send what is packed | receive | put unpacking of what has come |
//
// In the order of streams a wait returns once all unpacking is in the program's stream.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channels/node.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "packing/pieced_copies.hpp"
#include "request/persistent_messages.hpp"
#include "request/stream_ordered.hpp"

namespace tonari {

// Of each piece, in the order of the copies.
class PiecesByMpi final : public PieceMessages {
 public:
  std::vector<PersistentMessages> out, in;

  void send(std::size_t piece) override { out[piece].start(); }
  void receive(std::size_t piece) override { in[piece].start(); }
  bool sent(std::size_t piece) override { return out[piece].complete(); }
  bool received(std::size_t piece) override { return in[piece].complete(); }
};

class PiecedExchange final : public PolledExchange<PiecedExchange>, public StreamOrdered {
 public:
  // Without copies this rank has no blocks. node: null where no rank's death is noticed. timeout:
  // seconds after which a rank that waits looks whether the others still live.
  PiecedExchange(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node,
                 double timeout, std::unique_ptr<PiecedCopies> copies, PiecesByMpi messages);
  ~PiecedExchange() override;

  void pack_on(DeviceStream stream) override;
  void unpack_on(DeviceStream stream) override;
  void finish_on(DeviceStream stream) override;
  void move_blocks(Shifts shifts) override { rebind(shifts); }
  void check_reach(Shifts shifts) const override;

  void start() override;
  void rebind(Shifts shifts) override;
  bool nothing() const override { return !copies_; }
  int messages() const override;
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override { return nothing() ? 0 : copies_->bytes(); }
  void awaits(Awaited& awaited) const override;

  // What a program is told of it, as a line; `why` ends the sentence.
  std::string describe(const std::string& why) const;

 private:
  friend PolledExchange<PiecedExchange>;
  static constexpr Pause idle_pause = Pause::yield;  // the MPI proceeds in looks
  bool finished() const { return done_; }
  bool advance();
  void check_peers() const;
  template <class Use>
  void for_open_messages(Use use) const;

  std::shared_ptr<const Node> node_;
  std::unique_ptr<PiecedCopies> copies_;
  PiecesByMpi messages_;
  bool under_way_ = false, done_ = true;
  std::optional<DeviceStream> packs_on_;
  DeviceStream unpacks_on_;
  std::atomic<bool> by_stream_ = false;  // it unpacks there, and nobody waits for that
};

}  // namespace tonari
