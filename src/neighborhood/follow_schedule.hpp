// SPDX-License-Identifier: BSD-3-Clause
// A neighborhood whose exchanges follow a schedule from a file (tonari_schedule).
#pragma once

#include "engine/comm/context.hpp"

namespace tonari {

// Collective, together; nothing if the settings of the context name no file. Each rank reads the
// file and checks its part of it; all follow it, or all throw the same: Errc::file if it is wrong
// somewhere, Errc::mismatch if ranks have different files.
void follow_schedule(Context& context);

}  // namespace tonari
