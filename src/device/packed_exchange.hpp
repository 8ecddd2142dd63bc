// SPDX-License-Identifier: BSD-3-Clause
// One step of an exchange between ranks that map each other's device memory, in the order of
// streams: the host only puts work into streams and never waits for it.
//
//   start_on   | previous unpacking | slots are free | gather | arrived at peers |
//   wait_on    | own packing | previous unpacking | all arrived | scatter | taken at peers |
//
// One launch gathers all messages straight into the slots of the ranks that receive them, and one
// scatters all. Messages of a rank to itself take slots, but no flags: events order them.
//
// Two exchanges may be in flight: they use the two parities of slots and flags. The n-th wait_on
// belongs to the n-th start_on, whatever streams they use.
//
// A device does not see what a wait in a stream is for: where ranks have several exchanges, each
// starts all before it waits for one of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "copy/moves.hpp"
#include "device/device.hpp"
#include "device/held_on_device.hpp"
#include "device/packed_inbox.hpp"

namespace tonari {

// A message at this rank: bytes of the program's memory that it is packed from or unpacked to.
struct PackedMessage {
  std::int32_t peer = 0, tag = 0;  // as in PackedKey
  std::byte* base = nullptr;       // in reach of the device; the program's as long as it is used
  Layout layout;
};

using PackedOffers = std::map<std::int32_t, PackedOffer>;  // by rank

class PackedExchange {
 public:
  // `number`: of the device that packs and unpacks; `rank`: of the caller. Throws Errc::argument
  // where the device lacks an ability that messages to other ranks need.
  PackedExchange(Device& device, int number, std::int32_t rank, std::vector<PackedMessage> in,
                 std::vector<PackedMessage> out);
  // Ends without waiting for peers. Memory that work still uses stays with the device; so call
  // `finish` before, unless a peer is lost.
  ~PackedExchange() = default;

  // What this rank tells its peers, and what they told it; its own offer is not needed. Throws
  // Errc::argument where memory is out of the device's reach, and Errc::mismatch where a peer
  // expects other messages. Connect once, before the first start.
  PackedOffer offer() const;
  void connect(const PackedOffers& offers);

  // Packs what the stream holds before, and what was unpacked by calls before this one. While two
  // are in flight, no byte may be both sent and received. Throws Errc::active if two are, or if the
  // stream is captured, and Errc::argument before it is connected or with another device's stream.
  void start_on(DeviceStream stream);
  // What the stream gets afterwards sees what has come. Throws Errc::active if none is in flight,
  // and otherwise like start_on.
  void wait_on(DeviceStream stream);
  // Waits on the host until no rank uses the memory of this one, or this one theirs, and gives all
  // back. Every rank calls it, after as many waits as starts. While it waits it calls `check` again
  // and again, which may throw to give up.
  void finish(const std::function<void()>& check);

 private:
  using Flags = std::vector<std::uint64_t*>;
  struct Parity {
    DeviceTable gather, scatter;
    DeviceEvent packed;
    Flags arrived, taken;                    // here, which peers write
    Flags arrived_at_peers, taken_at_peers;  // which this rank writes
  };

  void check_abilities() const;
  void find_flags_here();
  void clear_flags();
  struct Peer {  // its memory as this rank sees it
    const PackedInbox& inbox;
    std::byte* memory;
  };
  Peer peer(std::int32_t rank, const PackedOffers& offers);
  void find_flags_there(const PackedOffers& offers);
  void make_gathers(const PackedOffers& offers);
  void make_scatters();
  std::span<const FlagValue> all(const Flags& flags, std::int64_t value);
  void check_stream(DeviceStream stream) const;

  Device& device_;
  int number_;
  std::int32_t rank_;
  std::vector<PackedMessage> in_, out_;
  PackedInbox inbox_;
  HeldOnDevice held_;
  std::byte* memory_ = nullptr;  // the inbox's
  std::map<std::int32_t, std::byte*> peers_;
  DeviceStream own_;  // for what no stream of the program waits for
  DeviceEvent unpacked_;
  std::array<Parity, 2> parities_;
  std::vector<FlagValue> values_;          // room for a list of flags
  std::int64_t started_ = 0, waited_ = 0;  // so many exchanges
  bool connected_ = false;
};

}  // namespace tonari
