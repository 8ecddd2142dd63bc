// SPDX-License-Identifier: BSD-3-Clause
// Ranks make an exchange of blocks on devices whose messages the MPI gets as addresses on the
// device, or all hear why they cannot. Blocks are packed and unpacked on the device, by one launch
// each.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/comm/context.hpp"
#include "request/connect_packed.hpp"
#include "request/stream_ordered.hpp"

namespace tonari {

struct ConnectedMessages {
  std::unique_ptr<Exchange> exchange;  // null:
  std::optional<Error> refusal;        // the reason of the lowest rank that has one
  StreamOrdered* ordered = nullptr;    // the exchange, where this rank has blocks
  std::size_t tags = 0;                // that it takes from the context's first one on
  std::string described;               // what a program is told of it, as lines
  std::string stages;                  // that the MPI stages, and why; empty: nothing tells so
};

// Collective, together. read, timeout: as for connect_packed.
ConnectedMessages connect_messages(Context& context, double timeout,
                                   const std::function<PackedBlocks()>& read);

}  // namespace tonari
