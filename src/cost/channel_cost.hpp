// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tonari {

// What matters for the cost of moving a plan's messages.
struct ChannelCost {
  bool typed = false;       // derived datatypes: no copies, but datatype pieces; else packed
  std::size_t segment = 0;  // messages are cut into pieces of this many bytes; 0: never
  bool direct = true;       // packed: a message that is one contiguous piece is not copied
};

}  // namespace tonari
