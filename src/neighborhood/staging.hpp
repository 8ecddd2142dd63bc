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

struct Staging {
  StagedSides sides;
  Binding given;  // the blocks as the program has them
  PackedTypes types;
};

// A side of a call whose blocks all lie on devices.
class StagedSide {
 public:
  // Throws Errc::argument where no device of this process serves its memory.
  StagedSide(const ReadCall& call, const LocalTopology& topology, Buffer side);

  // Pinned memory for blocks of this side, which may be in another order. Throws Errc::argument
  // where the side is on several devices, or blocks reach out of their memory; and Errc::memory.
  std::shared_ptr<PinnedCopy> pin(const std::vector<DeviceBlock>& blocks) const;
  // The program's number of block i.
  std::size_t number(std::size_t i) const;
  const std::vector<Block>& blocks() const;

 private:
  const std::string& argument() const;
  std::string name(std::size_t i) const;
  int device_of(std::size_t i) const;
  int device() const;

  const ReadCall& call_;
  const LocalTopology& topology_;
  Buffer side_;
  std::shared_ptr<PresentDevice> devices_;
};

// Allocates pinned memory, and makes `mine` the call that exchanges it. Local. Throws
// Errc::argument where no device of this process serves the memory, or a setting needs memory of
// the host, and Errc::memory.
std::unique_ptr<Staging> stage(ReadCall& mine, const LocalTopology& topology,
                               const Settings& settings);

}  // namespace tonari
