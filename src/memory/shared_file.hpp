// SPDX-License-Identifier: BSD-3-Clause
// A file in memory without a name, which lives as long as a process has it open or mapped. Segments
// and mapped files are made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/owned.hpp"

namespace tonari {

// The purpose of a file, as the errors (Errc::memory) put it when the file cannot be had.
struct SharedFileWords {
  const char* make;  // "cannot <make> 100 bytes <purpose>: ..."
  const char* purpose;
  const char* noun;     // "is another <noun> than the one meant"
  const char* without;  // what else the user can do: "<without>"
};

// Another process finds the file by this. The size and a number that no other process knows tell
// that it is the file that was meant.
struct SharedFileName {
  std::int64_t process = 0;  // the process that has it open
  std::int32_t descriptor = -1;
  std::uint64_t shown = 0;  // its bytes, as the user counts them
  std::uint64_t size = 0;   // as the system counts them
  std::uint64_t number = 0, number_at = 0;
  std::size_t huge_page = 0;  // 0: ordinary pages
};

std::string system_reason(int error);

// Says what is wrong with TONARI_SHM_DIR where no file can be made in it.
std::optional<std::string> wrong_shared_directory();

[[noreturn]] void cannot_share(const SharedFileWords& words, std::uint64_t bytes,
                               const std::string& what, const std::string& remedy);
[[noreturn]] void cannot_attach(const SharedFileWords& words, const SharedFileName& name,
                                const std::string& why);

std::uint64_t random_number(const SharedFileWords& words, std::uint64_t bytes);

// Makes `size` zeroed bytes, in whole pages, that only this user can open. All are backed by memory
// now, so that no later touch can fail. No process can shorten the file; in a directory
// (TONARI_SHM_DIR) no other user can. With huge_page, it uses huge pages of this size, whatever
// TONARI_SHM_DIR says. Throws with the need, the obstacle and the remedy.
OpenFile make_shared_file(const SharedFileWords& words, std::uint64_t size,
                          std::size_t huge_page = 0);

// Throws unless the file is what the name says, because a stranger may have sent it.
OpenFile open_shared_file(const SharedFileWords& words, const SharedFileName& name);

}  // namespace tonari
