// SPDX-License-Identifier: BSD-3-Clause
// Tells how much memory this process could still fill. The system promises more than it has and
// later kills processes, so a caller with large needs looks first.
#pragma once

#include <cstdint>
#include <string>

namespace tonari {

// The least of what the kernel reports for the machine (MemAvailable) and for the control groups of
// this process (version 1 and 2), in bytes. Without a report it is the greatest number. `root`
// precedes /proc and /sys in all names, for tests.
std::uint64_t available_memory(const std::string& root = "");

// Bytes that a directory's file system has free for this user; the greatest number where it does
// not say.
std::uint64_t free_in(const std::string& directory);

// The size that a file of this process may reach (RLIMIT_FSIZE, also in memory); the greatest
// number without a limit. Ask this first: exceeding the limit raises a signal that ends the
// process, and a library must not handle signals.
std::uint64_t file_limit();

}  // namespace tonari
