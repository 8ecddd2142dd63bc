// The way of values between owners and ghosts: to the ghosts, or from them back to their owners.
#pragma once

namespace tonari {

enum class Direction { forward, reverse };

}  // namespace tonari
