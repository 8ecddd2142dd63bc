// SPDX-License-Identifier: BSD-3-Clause
// The first one-shot calls of a neighborhood. They go by plain messages, since few calls cost less
// than connecting (ADR 60). Then ranks connect.
#pragma once

#include "neighborhood/call.hpp"
#include "neighborhood/handles.hpp"
#include "request/agree_on_arguments.hpp"

namespace tonari {

// Whether one-shot calls go by streams: nothing is forced, by the environment or by what was
// inherited.
bool wants_streams(const Settings& inherited);

// Returns what a one-shot call goes by while its neighborhood has no `one_shots`; null: not by
// streams. Collective in the first call, and in the one that connects.
OneShots* first_one_shots(const Call& call, Output output);

}  // namespace tonari
