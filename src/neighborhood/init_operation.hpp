// SPDX-License-Identifier: BSD-3-Clause
// Where calls of the six operations that make requests come together.
#pragma once

#include "neighborhood/call.hpp"

namespace tonari {

// A call that makes a request, from whatever interface it comes. Collective, unless a group has
// collected it. Returns the code of tonari_alltoall_init and the like, whose errors are recorded.
int init_operation(tonari_request* request, const Call& call);

}  // namespace tonari
