// SPDX-License-Identifier: BSD-3-Clause
// An exchange from device to device: ranks of a node map each other's memory by handles. One launch
// packs all blocks straight into memory of the ranks that receive them, and one unpacks all
// (packing/packed_exchange.hpp). The host only puts these into streams.
//
//   start     | pack, in a stream of the exchange |
//   wait      | pass on, unpack, in that stream | is it done? |
//   start_on  | pack, in the program's stream |
//   wait_on   | pass on, in a stream of the exchange | unpack, in the program's stream |
//
// Each exchange has a stream of its own, because an unpacking waits there for other ranks. These
// may first need another exchange of this rank.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "engine/wait/polled_exchange.hpp"
#include "request/ended_exchanges.hpp"
#include "request/stream_ordered.hpp"

namespace tonari {

class DeviceExchange final : public PolledExchange<DeviceExchange>, public StreamOrdered {
 public:
  // Without a packed exchange this rank has no blocks. crowded: ranks share cores; timeout: seconds
  // after which a rank that waits looks whether the others still live.
  DeviceExchange(PackedParts parts, bool crowded, double timeout);
  // Local: what other ranks may still use stays until they do not (request/ended_exchanges.hpp).
  ~DeviceExchange() override;

  // Where this rank has blocks. Throws like PackedExchange::connect.
  void connect(const PackedOffers& offers);
  PackedOffer offer() const { return parts_.packed->offer(); }
  // Before the first start: other ranks may now give back what this one had mapped. Throws nothing.
  void disconnect() noexcept;

  // What a program is told of it, as a line.
  std::string describe() const;

  void pack_on(DeviceStream stream) override;
  void unpack_on(DeviceStream stream) override;
  void finish_on(DeviceStream stream) override;
  void move_blocks(Shifts shifts) override { rebind(shifts); }
  void check_reach(Shifts shifts) const override;

  void start() override;
  void rebind(Shifts shifts) override;
  // The device does all, unless a wait has to say that blocks are passed on.
  bool proceeds_by_itself() const override { return nothing() || !parts_.packed->passes_on(); }
  bool nothing() const override { return !parts_.packed; }
  int messages() const override;
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override { return nothing() ? 0 : parts_.packed->bytes(); }
  void give_up() override;
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange<DeviceExchange>;
  bool finished() const { return done_; }
  bool advance();
  void check_peers();
  void check_stream(DeviceStream stream) const;

  PackedParts parts_;
  std::unique_ptr<EndedExchange> room_;
  std::optional<DeviceStream> packs_on_;  // as the program said for this exchange
  DeviceStream unpacks_on_;               // where a wait wants it
  DeviceStream unpacked_on_;              // where it is
  std::atomic<bool> by_stream_ = false;   // it unpacks there, and nobody waits for that
  bool unpacks_ = false;                  // the unpacking is in a stream
  bool connected_ = false, done_ = true;
};

}  // namespace tonari
