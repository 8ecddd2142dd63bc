// SPDX-License-Identifier: BSD-3-Clause
// What another process has open, where opening it once more by its name would not do: descriptors
// of drivers mean what the process made with them.
#pragma once

#include <cstdint>

#include "memory/owned.hpp"

namespace tonari {

// The same open file, by pidfd_getfd. If the result is empty, errno says why: EPERM where one
// process of a user may not attach to another one (Yama's ptrace_scope).
OpenFile take_file(std::int64_t process, int descriptor);

}  // namespace tonari
