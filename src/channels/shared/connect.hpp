// SPDX-License-Identifier: BSD-3-Clause
// Connects the ranks of a node through shared memory.
#pragma once

#include <memory>
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

// Collective. `in` and `out` are messages between this rank and others of its node. Returns null,
// with the reason, on all ranks if some lack memory; null, too, where a receiver has made nothing.
// Other errors are thrown on all ranks.
std::shared_ptr<SharedLink> connect_segments(const ConnectComm& on,
                                             const std::vector<EdgeMessage>& in,
                                             const std::vector<EdgeMessage>& out,
                                             const SharedLimits& limits, std::string& refusal);

// For Channel::connect.
std::shared_ptr<Link> connect_shared(Connecting& given);

}  // namespace tonari
