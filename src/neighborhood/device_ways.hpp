// SPDX-License-Identifier: BSD-3-Clause
// The ways between ranks for blocks in memory of devices. All ranks make one, or none does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "neighborhood/device_plan.hpp"
#include "neighborhood/make_request.hpp"
#include "request/connect_messages.hpp"

namespace tonari {

// In the order in which they are taken where nothing is measured.
enum class DeviceWay : std::uint8_t { handles, mpi, pieces, staged };
inline constexpr std::array device_ways{DeviceWay::handles, DeviceWay::mpi, DeviceWay::pieces,
                                        DeviceWay::staged};
// As descriptions have them. The channel of the last one is whichever the host takes.
const char* name(DeviceWay way);

class DeviceWays {
 public:
  // `start`, and blocks of `mine`: as for make_request.
  DeviceWays(const Call& call, double start, const Problem& problem, LocalArguments& mine)
      : call_(call), start_(start), problem_(problem), mine_(mine) {}

  // Collective, together. Returns why it is not possible, the same on all ranks. Takes its tags.
  // Throws what the last way throws, which is always possible.
  std::optional<Error> make(DeviceWay way);
  // Instead of making it. Local, the same on all ranks.
  void leave_out(DeviceWay way, const char* reason) { of(way).refused = reason; }
  Prepared& made(DeviceWay way) { return *of(way).made.prepared; }

  // Why the ways that go from device to device cannot be, as the end of a sentence; or that others
  // were not faster.
  std::string why() const;
  // Takes one that was made, and tells the program so. Local. `found`: how it was chosen; `more`:
  // lines.
  Made take(DeviceWay way, const Evidence& found, const std::string& more);

 private:
  struct One {
    Made made;
    std::string told, refused;
    std::string stages = {};  // that the MPI does, and why
  };
  One& of(DeviceWay way) { return ways_[static_cast<std::size_t>(way)]; }
  const One& of(DeviceWay way) const { return ways_[static_cast<std::size_t>(way)]; }
  Context& context() const { return *call_.near->context; }

  bool only_staging() const;                   // all others were refused
  std::string no_faster(DeviceWay way) const;  // as ReportRow has it
  // Whether the program asks for a plan whose blocks go by way of other ranks. Within a node a
  // launch is what costs, and blocks that go straight take the fewest.
  bool combines() const {
    return mine_.settings.algorithm != "auto" && mine_.settings.algorithm != "linear";
  }
  PackedBlocks blocks() const;
  std::string tell_plan(ChoiceReport& chosen) const;
  void describe(Prepared& prepared, DeviceWay way, const std::string& told) const;

  std::optional<Error> by_handles(One& one);
  std::optional<Error> by_messages(One& one, ConnectedMessages made);
  void stage(One& one);
  void unstage();  // as the program gave the blocks
  void hold(One& one, std::unique_ptr<Exchange> exchange, StreamOrdered* ordered, std::size_t tags);

  const Call& call_;
  double start_;
  const Problem& problem_;
  LocalArguments& mine_;
  DevicePlan planned_;
  std::optional<Arguments> unstaged_;  // while the blocks are pinned ones
  std::array<One, device_ways.size()> ways_;
};

}  // namespace tonari
