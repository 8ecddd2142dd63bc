// SPDX-License-Identifier: BSD-3-Clause
// Connects the ranks of a node through shared memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channels/connect.hpp"
#include "channels/shared/link.hpp"

namespace tonari {

// Long messages are read where they lie.
inline constexpr const char* single_copy = "single copy";
// In bytes of a message: below, a system call costs more than a second copy.
inline constexpr Bytes worth_single_copy = 16 * 1024;

// What the words of a detail ask for; pure. Views, and whether memory of others can be read, are
// not known here.
SharedLimits shared_limits(const std::string& detail);

// Messages of one plan between this rank and others of its node.
struct SharedMessages {
  std::vector<EdgeMessage> in, out;
  SharedLimits limits;
  std::shared_ptr<SharedLink> link = nullptr;
};

// Collective. Makes the links of all these plans; ranks meet as often as for one. Returns false,
// with the reason, on all ranks if some lack memory; then there is no link. Other errors are thrown
// on all ranks.
bool connect_segments(const ConnectComm& on, std::span<SharedMessages> plans, std::string& refusal);

// For Channel::connect. Where memory does not suffice for all plans, some may get a link.
void connect_shared(std::span<Connecting> plans);

}  // namespace tonari
