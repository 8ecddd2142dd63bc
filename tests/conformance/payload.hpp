// SPDX-License-Identifier: BSD-3-Clause
// What is exchanged: each element says where it comes from, so that a wrong one tells what it is.
#pragma once

#include <cstdint>
#include <string>

namespace conformance {

// Which rank sends an element, in which of its blocks, where there, and in which exchange.
struct Origin {
  int rank, block, element, round;
};

inline constexpr std::int64_t untouched = -7;  // what buffers have where nothing was received

std::int64_t payload(const Origin& origin);
// "element 1 of block 0 of rank 2", and from which exchange, if that is not this one.
std::string described(std::int64_t value, int round);

}  // namespace conformance
