// SPDX-License-Identifier: BSD-3-Clause
// Sides of a call that lie in memory of a device: the host exchanges pinned blocks in their place.
// That is a matter of one rank, so ranks with and without such memory take part in one exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "mpi/packed_type.hpp"
#include "neighborhood/read_call.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {

// The devices of this process, for memory that sentences name like this. Throws Errc::argument
// where there are none.
std::shared_ptr<PresentDevice> devices_for(const std::string& name);

// The devices of the two sides; -1: none.
struct StagedDevices {
  int send = -1, recv = -1;
};

inline constexpr const char* always_staged = "one-shot calls always are staged";

struct Staging {
  StagedDevices devices;
  StagedSides sides;  // once they are pinned
  Binding given;      // the blocks as the program has them, from then on
  PackedTypes types;
  std::string why = always_staged;  // the end of a sentence

  bool pinned() const { return sides.send || sides.recv; }
};

// A side of a call whose blocks all lie on devices.
class StagedSide {
 public:
  // Throws Errc::argument where no device of this process serves its memory.
  StagedSide(const ReadCall& call, const LocalTopology& topology, Buffer side);

  // Pinned memory for blocks of this side, which may be in another order. Throws Errc::argument
  // where the side is on several devices, or blocks reach out of their memory; and Errc::memory.
  std::shared_ptr<PinnedCopy> pin(const std::vector<DeviceBlock>& blocks) const;
  // The device that has all of them. Throws Errc::argument as above.
  int device() const;
  // The program's number of block i.
  std::size_t number(std::size_t i) const;
  const std::vector<Block>& blocks() const;

 private:
  const std::string& argument() const;
  std::string name(std::size_t i) const;
  int device_of(std::size_t i) const;

  const ReadCall& call_;
  const LocalTopology& topology_;
  Buffer side_;
  std::shared_ptr<PresentDevice> devices_;
};

// Finds the devices. Local. Throws Errc::argument where no device of this process serves the
// memory, or a setting needs memory of the host.
std::unique_ptr<Staging> find_devices(const ReadCall& mine, const LocalTopology& topology,
                                      const Settings& settings);
// Allocates pinned memory, and makes `mine` the call that exchanges it. Local. Throws Errc::memory.
void pin(Staging& staging, ReadCall& mine, const LocalTopology& topology);

}  // namespace tonari
