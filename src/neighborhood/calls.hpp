// SPDX-License-Identifier: BSD-3-Clause
// A call that makes a request, from whatever interface it comes.
#pragma once

#include "neighborhood/call.hpp"

namespace tonari {

// Collective, unless a group collects the call. Returns the code of tonari_alltoall_init and the
// like, whose errors are recorded.
int init_operation(tonari_request* request, const Call& call);

}  // namespace tonari
