// How much memory this process could still fill. The system gives out more than it has and then kills processes, so who wants to hold much at once looks first.
#pragma once

#include <cstdint>
#include <string>

namespace tonari {

// Bytes, by what the kernel says of the machine (MemAvailable) and of the control groups that this process is in (version 1 and 2), whichever is least; the
// greatest number where it says nothing. root: before /proc and /sys in all names, for tests.
std::uint64_t available_memory(const std::string& root = "");

}  // namespace tonari
