// SPDX-License-Identifier: BSD-3-Clause
// An exchange whose blocks lie in memory of a device, on one side or both: it goes through pinned
// memory of the host.
//
//   start     | pack, and wait for it | start of the host's exchange |
//   wait      | the host's exchange | unpack, and wait for it |
//
// In the order of streams the host does not wait for the device. It asks whether blocks are packed,
// before the host's exchange starts in a later test or wait:
//
//   start_on  | pack, in the stream |
//   wait_on   | are they packed? | the host's exchange | unpack, in the stream |
//
// Pinned memory is received into again when it was unpacked, so the next exchange asks for that,
// too. All that the stream of a start held is complete before blocks are unpacked, wherever that
// is.
//
// Messages of this rank to itself may be copied on the device, in the stream of the start. The host
// has no part in them: without other messages a start and a wait in streams only put work there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/wait/wrapped_exchange.hpp"
#include "packing/pinned_copy.hpp"
#include "request/stream_ordered.hpp"

namespace tonari {

// Null: that side lies in memory of the host.
struct StagedSides {
  std::shared_ptr<PinnedCopy> send, recv;
  // Messages to itself; null: there are none, or the exchange between ranks has them.
  std::shared_ptr<LaunchedCopies> own;
  std::size_t own_messages = 0;

  Bytes bytes() const;
  // Throws Errc::argument where blocks that lie on devices would not, so far from where they were.
  void check_reach(std::span<const std::ptrdiff_t> shifts) const;
  // What a program is told of it, as lines; `why` ends the first.
  std::string describe(const std::string& why) const;
  std::string describe_own() const;
};

class StagedExchange final : public WrappedExchange, public StreamOrdered {
 public:
  // inner: exchanges the packed blocks in the place of those of the program. inner_by_stream: the
  // same, if it exchanges blocks on devices itself; then nothing but copies of this rank's own
  // blocks is around it.
  StagedExchange(std::shared_ptr<Exchange> inner, StagedSides sides,
                 StreamOrdered* inner_by_stream = nullptr)
      : WrappedExchange(std::move(inner)),
        sides_(std::move(sides)),
        inner_by_stream_(inner_by_stream) {}
  ~StagedExchange() override;

  void pack_on(DeviceStream stream) override;
  void unpack_on(DeviceStream stream) override;
  void finish_on(DeviceStream stream) override;
  void move_blocks(Shifts shifts) override;
  void check_reach(Shifts shifts) const override;
  // Before the first start.
  void copy_own(std::shared_ptr<LaunchedCopies> own, std::size_t messages);
  const StagedSides& sides() const { return sides_; }

  bool nothing() const override { return !sides_.own && inner().nothing(); }
  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override;
  bool proceeds_by_itself() const override { return false; }
  std::size_t scratch_bytes() const override { return inner().scratch_bytes() + sides_.bytes(); }
  void rebind(std::span<const std::ptrdiff_t> shifts) override;
  void awaits(Awaited& awaited) const override;

 private:
  bool packed();
  bool unpacked();
  LaunchedCopies* any() const;  // that says whether a stream can be
  void begin_exchange();
  void begin_unpacking();
  void begin_own(DeviceStream stream);
  void move_copies(Shifts shifts);

  enum class Step : std::uint8_t { packing, exchanging, unpacking };
  StagedSides sides_;
  StreamOrdered* inner_by_stream_;
  Step step_ = Step::unpacking;
  bool under_way_ = false;  // the host's exchange
  bool rebound_ = false;    // ever
  std::optional<DeviceStream> packs_on_;
  DeviceStream unpacks_on_;
  std::atomic<bool> by_stream_ = false;  // it unpacks there, and nobody waits for that
};

}  // namespace tonari
