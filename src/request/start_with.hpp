// SPDX-License-Identifier: BSD-3-Clause
// Starting a request with other buffers than it was made with.
#pragma once

#include "tonari/tonari.h"

namespace tonari {

// Local. function: of the C interface, which the program has called; it takes the buffers of some
// kinds of requests only. Throws what that says.
void start_with(tonari_request request, const char* function, const void* const buffers[]);

}  // namespace tonari
