// SPDX-License-Identifier: BSD-3-Clause
// Ranks make exchanges of blocks that lie on devices, or all hear why they cannot.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/comm/context.hpp"
#include "request/device_exchange.hpp"

namespace tonari {

// What one rank exchanges. Both ends of a message know the same tag and bytes, and it has at least
// one byte.
struct PackedBlocks {
  std::shared_ptr<PresentDevice> devices;  // null: this rank has no blocks
  int number = -1;                         // of the device that has them
  std::vector<PackedMessage> in, out;
};

struct ConnectedPacked {
  std::unique_ptr<DeviceExchange> exchange;  // null:
  std::optional<Error> refusal;              // the reason of the lowest rank that has one
};

// Collective, together. read: what this rank has; what that throws is its reason why it cannot. So
// is whatever fails here on one rank. Takes a tag (`packed_tags`) from the context's first one on,
// if all ranks can. timeout: as for DeviceExchange.
inline constexpr std::size_t packed_tags = 1;
ConnectedPacked connect_packed(Context& context, double timeout,
                               const std::function<PackedBlocks()>& read);

}  // namespace tonari
