// SPDX-License-Identifier: BSD-3-Clause
// What one operation of a plan takes of its processor, and how its message is cut on the wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "cost/loggp.hpp"
#include "plan/plan.hpp"

namespace tonari {

// bytes(slice) is the size of a block.
using BlockBytes = std::function<std::uint64_t(Slice)>;

inline double units(std::uint64_t bytes) { return static_cast<double>(bytes); }

// A message on the wire: whole, or cut into equal segments and a shorter last one.
struct Cut {
  Cut(std::uint64_t bytes, std::size_t segment)
      : piece(segment > 0 ? std::min<std::uint64_t>(segment, bytes) : bytes) {
    count = bytes > 0 ? (bytes + piece - 1) / piece : 0;
    last = bytes > 0 ? bytes - (count - 1) * piece : 0;
  }
  std::uint64_t piece, count, last;
};

struct Effort {
  double busy = 0;          // seconds of the processor
  double receiving = 0;     // those of an exchange's receive, which comes second
  std::uint64_t bytes = 0;  // of the message
};

// o per segment, and copies (packed) or pieces (typed). Contiguous pieces are blocks of ascending
// numbers of one buffer; empty blocks are none.
Effort effort_of(const Plan& plan, const Operation& op, const BlockBytes& bytes,
                 const LogGP& machine, const ChannelCost& channel);

}  // namespace tonari
