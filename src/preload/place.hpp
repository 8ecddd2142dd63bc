// SPDX-License-Identifier: BSD-3-Clause
// Where the code of a call lies, and the files in which processes of a job tell it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/setting.hpp"

namespace tonari::preload {

// A file, and the address in it that debuggers and addr2line take.
struct Place {
  std::string file;  // empty: not known
  std::uintptr_t offset = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};
// Finds that of a call that returns to `site`, while the library that has its code is still loaded.
Place place_of(const void* site);

// As JSON has it between quotes.
std::string escaped(const std::string& text);

// A name in this folder that no other process of the job has: numbers of processes are equal on
// several hosts.
std::string file_of_this_process(const std::string& folder);

// After fopen has failed there: says on standard error why, and what to change.
void say_not_written(const Setting& row, const std::string& folder);

}  // namespace tonari::preload
