// A file in memory without a name, which lives as long as a process has it open or mapped: what
// segments and mapped files are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "memory/owned.hpp"

namespace tonari {

// What such a file is for, in the words of the sentences that are thrown (Errc::memory) when it
// cannot be had.
struct SharedFileWords {
  const char* make;  // "cannot <make> 100 bytes <purpose>: ..."
  const char* purpose;
  const char* noun;     // "is another <noun> than the one meant"
  const char* without;  // what else can be done: "<without>"
};

// How another process finds it, and how it can tell that this is the file that was meant: by its
// size and a number that no other process knows.
struct SharedFileName {
  std::int64_t process = 0;  // that has it open
  std::int32_t descriptor = -1;
  std::uint64_t shown = 0;  // its bytes, as the user counts them
  std::uint64_t size = 0;   // as the system counts them
  std::uint64_t number = 0, number_at = 0;
  std::size_t huge_page = 0;  // 0: usual pages
};

std::string system_reason(int error);

[[noreturn]] void cannot_share(const SharedFileWords& words, std::uint64_t bytes,
                               const std::string& what, const std::string& remedy);
[[noreturn]] void cannot_attach(const SharedFileWords& words, const SharedFileName& name,
                                const std::string& why);

std::uint64_t random_number(const SharedFileWords& words, std::uint64_t bytes);

// `size` zeroed bytes, whole pages, that only this user can open, all of them backed by memory now,
// so that no later touch can fail; no process can make it shorter (where TONARI_SHM_DIR names a
// directory for it: no other user). huge_page: in huge pages of this size, wherever
// TONARI_SHM_DIR points; 0: in usual ones. Throws with how much was needed, what was in the way,
// and what to change.
OpenFile make_shared_file(const SharedFileWords& words, std::uint64_t size,
                          std::size_t huge_page = 0);

// Throws unless it is what the name says: it comes from a stranger.
OpenFile open_shared_file(const SharedFileWords& words, const SharedFileName& name);

}  // namespace tonari
