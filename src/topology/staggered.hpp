// SPDX-License-Identifier: BSD-3-Clause
// The staggered order of peers: every rank begins with those after itself, so that not all send to
// the same one at a time.
#pragma once

#include <cstdint>
#include <utility>

namespace tonari {

// A rank sorts its peers by these keys: those above it come first, then those below.
inline std::pair<bool, std::int32_t> staggered(std::int32_t rank, std::int32_t peer) {
  return {peer < rank, peer};
}

}  // namespace tonari
