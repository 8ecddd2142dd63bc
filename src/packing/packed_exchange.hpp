// SPDX-License-Identifier: BSD-3-Clause
// An exchange between ranks that map each other's device memory, in the order of streams: the host
// only puts work into streams and never waits for it.
//
//   start_on   | previous unpacking | slots are free | gather | arrived at peers |
//   wait_on    | own packing | previous unpacking | all arrived | scatter | taken at peers |
//
// One launch gathers all messages straight into the slots of the ranks that receive them, and one
// scatters all. Messages of a rank to itself take slots, but no flags: events order them.
//
// Where blocks are passed on, messages have steps. A launch per step gathers what has come from the
// slots where it lies, and from the program's memory, into slots of the next ranks. wait_on puts
// these launches into a stream of the exchange; the scatter waits for them (packed_forward.cpp):
//
//   own stream | own packing | (some arrived | gather | arrived at peers), for each later step |
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
#include <list>
#include <map>
#include <span>
#include <vector>

#include "copy/moves.hpp"
#include "device/device.hpp"
#include "device/held_on_device.hpp"
#include "packing/packed_inbox.hpp"
#include "packing/placed_tables.hpp"

namespace tonari {

// A message at this rank: bytes of the program's memory that it is packed from or unpacked to.
struct PackedMessage {
  std::int32_t peer = 0, tag = 0;  // as in PackedKey
  std::byte* base = nullptr;       // in reach of the device; the program's as long as it is used
  Layout layout;
  std::size_t space = 0;  // that the memory moves with (PackedExchange::move_to); 0: it stays
  std::int32_t piece = 0, step = 0;  // as in PackedKey
  // Not below 0: the bytes lie in the slot of this one of the incoming messages. One that goes out
  // is gathered from there; one that comes in has no slot, and is a further place for the bytes.
  std::int32_t from = -1;
  bool only_passed_on = false;  // it has no place in the program's memory: its layout tells bytes
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
  // are in flight, no byte may be both sent and received. What is sent in a later step stays as it
  // is until wait_on. Throws Errc::active if two are, or if the
  // stream is captured, and Errc::argument before it is connected or with another device's stream.
  void start_on(DeviceStream stream);
  // What the stream gets afterwards sees what has come. Throws Errc::active if none is in flight,
  // and otherwise like start_on.
  void wait_on(DeviceStream stream);
  // Whether all is complete that was put into streams last by wait_on, leave or give_up. Never
  // waits.
  bool complete();
  // From the next start on, each space lies so far from where it was at first, by its number. The
  // tables for the last few places are kept. After as many waits as starts. Where a table must make
  // room for one more, this waits until it is not used, and calls `check` meanwhile, which may
  // throw. Throws like connect, and then stays as it was.
  void move_to(std::span<const std::ptrdiff_t> shifts, const std::function<void()>& check);

  // The end has three steps, and none of them waits. After as many waits as starts, this says that
  // there will be no more; once complete() then, no rank uses the memory of this one any more, or
  // this one theirs.
  void leave();
  // Then gives back what shows this rank the memory of others. Once all have done so, destroy it.
  void close();
  // All at once: waits on the host until it is complete, and calls `check` again and again, which
  // may throw to give up.
  void finish(const std::function<void()>& check);
  // In the place of `leave`, if something has failed or a peer is lost: nothing waits for other
  // ranks any more, so streams of the program go on. What they bring means nothing. by: a stream of
  // this device that waits for no other rank. Never throws.
  void give_up(DeviceStream by) noexcept;

  int number() const { return number_; }
  Device& device() const { return device_; }
  DeviceStream own_stream() const { return own_; }  // for callers without one
  DeviceEvent unpacked() const { return unpacked_; }
  bool passes_on() const { return !forwards_.empty(); }
  const std::vector<PackedMessage>& in() const { return in_; }
  const std::vector<PackedMessage>& out() const { return out_; }
  Bytes bytes() const { return inbox_.bytes; }  // of this rank's memory that others write

 private:
  using Flags = std::vector<std::uint64_t*>;
  struct Parity {
    DeviceEvent packed;
    Flags arrived, taken;                    // here, which peers write
    Flags arrived_at_peers, taken_at_peers;  // which this rank writes
  };
  // A step behind the first one.
  struct Forward {
    explicit Forward(Device& device, std::int32_t which) : step(which), gathers(device) {}
    std::int32_t step;
    PlacedTables gathers;
    std::array<Flags, 2> awaited, told;  // here and at peers, by parity
  };

  void check_abilities() const;
  void find_forwards();
  void find_flags_here();
  Flags& awaiting(const PackedFlags& flags, std::size_t parity);
  std::span<const FlagValue> all_here(std::uint64_t value);
  void clear_flags();
  struct Peer {  // its memory as this rank sees it
    const PackedInbox& inbox;
    std::byte* memory;
  };
  Peer peer(std::int32_t rank, const PackedOffers& offers);
  void find_flags_there(const PackedOffers& offers);
  void find_slots_there(const PackedOffers& offers);
  using Shifts = PlacedTables::Shifts;  // of each message
  std::byte* slot(std::size_t in, std::size_t parity) const;
  std::vector<Move> gather(std::int32_t step, std::size_t parity, const Shifts& shifts) const;
  std::vector<Move> scatter(std::size_t parity, const Shifts& shifts) const;
  void compile(const Shifts& out, const Shifts& in, const std::function<void()>& check);
  void place(Shifts out, Shifts in, const std::function<void()>& check);
  // Puts the later steps into the own stream. Returns what to wait for before the scatter.
  DeviceEvent forward(std::int64_t exchange);
  std::span<const FlagValue> all(const Flags& flags, std::int64_t value);
  void check_stream(DeviceStream stream) const;

  Device& device_;
  int number_;
  std::int32_t rank_;
  std::vector<PackedMessage> in_, out_;
  std::vector<std::size_t> slots_of_;  // for each of in_: which of the inbox
  PackedInbox inbox_;
  HeldOnDevice held_, theirs_;  // of this rank, and of others
  PlacedTables gathers_, scatters_;
  Shifts placed_out_, placed_in_;  // that the tables in use are for
  std::list<Forward> forwards_;
  std::vector<std::array<std::byte*, 2>> slots_there_;  // for each of out_, by parity
  std::byte* memory_ = nullptr;                         // the inbox's
  std::map<std::int32_t, std::byte*> peers_;
  DeviceStream own_;  // for what no stream of the program waits for
  DeviceEvent unpacked_, forwarded_;
  std::array<Parity, 2> parities_;
  std::vector<FlagValue> values_;          // room for a list of flags
  std::int64_t started_ = 0, waited_ = 0;  // so many exchanges
  bool connected_ = false;
};

}  // namespace tonari
