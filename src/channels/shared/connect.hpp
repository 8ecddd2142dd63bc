// Connecting the ranks of a node through shared memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channels/connect.hpp"
#include "channels/shared/link.hpp"

namespace tonari {

// Collective. in, out: messages between this rank and others of its node. Null, with the reason, on
// all ranks if memory cannot be had on some; null where a receiver has made nothing. Throws what
// else went wrong on all ranks.
std::shared_ptr<SharedLink> connect_segments(const ConnectGroup& group,
                                             const std::vector<EdgeMessage>& in,
                                             const std::vector<EdgeMessage>& out,
                                             const SharedLimits& limits, std::string& refusal);

}  // namespace tonari
