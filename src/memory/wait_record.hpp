// SPDX-License-Identifier: BSD-3-Clause
// What a process that waits for long shows to the others of its node: for whom it waits, and since
// when. It lies in a small file in memory, which the process makes when its first long wait has
// lasted for a second. The others find it among that process's open files (/proc), when they wait
// for it themselves. So nothing of it exists as long as no wait is long.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tonari {

struct WaitRecord {
  static constexpr double fresh = 3;  // seconds; a process that still waits has written in these

  double since = 0, seen = 0;           // steady clock; when the wait began, and was seen last
  std::int32_t rank = -1;               // for which it waits, first of `ranks`; -1: not known
  std::int32_t ranks = 0;               // for how many
  std::array<char, 112> exchange = {};  // what it waits in; ends with a zero
};

// The steady clock, in seconds; all processes of a node have the same.
double steady_seconds();

// Shows this in place of what was shown before. Without a file there is nothing to see. It
// allocates nothing.
void show_wait(const WaitRecord& record) noexcept;
// Closes the file, if there is one.
void hide_wait() noexcept;
// What that process shows; nothing if it shows nothing, or cannot be looked at.
std::optional<WaitRecord> shown_wait(std::int64_t process) noexcept;

// The state of a process of this node as ps and /proc say it: R runs, S sleeps, D waits for a
// device, T is stopped, Z has ended; 0 if that cannot be known.
char process_state(std::int64_t process) noexcept;

}  // namespace tonari
