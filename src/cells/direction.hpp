// SPDX-License-Identifier: BSD-3-Clause
// The way of values between owners and ghosts: to the ghosts, or from them back to their owners; of
// vectors also back and then to the ghosts, as one exchange.
#pragma once

namespace tonari {

enum class Direction { forward, reverse, combine };

// Where it differs between ranks.
inline constexpr const char* different_directions =
    "some ranks call a forward exchange where others call a reverse one, or one that combines";

}  // namespace tonari
