// SPDX-License-Identifier: BSD-3-Clause
// Ranks make an exchange of blocks on devices through pinned memory of the host, cut into pieces
// that overlap, or all hear why they cannot.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/comm/context.hpp"
#include "request/connect_messages.hpp"

namespace tonari {

// How long pieces are. Copies of shorter ones cost more in launches than overlap saves.
struct PieceRule {
  Bytes least = Bytes{1} << 19;
  std::size_t most = 16;  // pieces of the rank that has the most bytes, about

  // largest: bytes of the side that has the most, of all ranks. 0: nothing is cut.
  Bytes length(Bytes largest) const;
};

// Collective, together. read, timeout: as for connect_packed. The pieces are the same at both ends
// of a message. why: ends the sentence that tells of it.
ConnectedMessages connect_pieces(Context& context, double timeout,
                                 const std::function<PackedBlocks()>& read, const std::string& why,
                                 const PieceRule& rule = {});

}  // namespace tonari
