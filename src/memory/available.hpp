// How much memory this process could still fill. The system gives out more than it has and then
// kills processes, so a caller that wants to hold much at once looks first.
#pragma once

#include <cstdint>
#include <string>

namespace tonari {

// Bytes, by what the kernel says of the machine (MemAvailable) and of the control groups that this
// process is in (version 1 and 2), whichever is least; the greatest number where it says nothing.
// root: before /proc and /sys in all names, for tests.
std::uint64_t available_memory(const std::string& root = "");

// Bytes that a directory's file system has free for this user; the greatest number where it does
// not say.
std::uint64_t free_in(const std::string& directory);

// How long this process may make a file (RLIMIT_FSIZE; in memory, too); the greatest number if
// there is no limit. Ask this first: a process that goes beyond gets a signal that ends the
// process, and a library leaves signals to the program.
std::uint64_t file_limit();

}  // namespace tonari
