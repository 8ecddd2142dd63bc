// SPDX-License-Identifier: BSD-3-Clause
// Calls of the MPI that do not return. Some have no form that could be tested; and where a rank has
// died in the middle of what it shared with others, each call of the MPI may spin forever. Only
// another thread can tell. It makes no call of the MPI, and looks about once a second.
#pragma once

namespace tonari {

// Starts the thread, once in a process. Where there can be none, nothing tells.
void watch_for_hangs() noexcept;
// MPI_Finalize has begun: ranks end as they should, and no process is ended because of that.
void expect_ends() noexcept;

}  // namespace tonari
