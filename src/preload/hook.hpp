// SPDX-License-Identifier: BSD-3-Clause
// How an MPI comes to call this library whenever it looks for progress.
#pragma once

namespace tonari::preload {

// Makes the MPI call `proceed`, which returns how many exchanges have become complete. False: this
// MPI does not do that. Once, and after MPI_Init.
bool hook_into_progress(int (*proceed)());

// In `proceed`, after a message of the rank to itself: the call of the MPI that waits for it looks
// again.
void wake_the_wait();

}  // namespace tonari::preload
