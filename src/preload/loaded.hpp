// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tonari::preload {

// Before the program initializes MPI: tells `tonari run` that its library is loaded.
void tell_loaded();

}  // namespace tonari::preload
