// SPDX-License-Identifier: BSD-3-Clause
// Where messages can be seen that MPI sends by itself: one way per MPI.
#pragma once

#include "count.hpp"

namespace bench {

void start_looking();
Sent stop_looking();  // what was sent since; zeros where nothing can be seen

}  // namespace bench
