// SPDX-License-Identifier: BSD-3-Clause
// What this process holds of the system: open descriptors, and mappings of files without a name.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace tonari::test {

struct Held {
  std::size_t descriptors = 0, mappings = 0;
  friend bool operator==(const Held&, const Held&) = default;
  friend void PrintTo(const Held& held, std::ostream* out) {
    *out << held.descriptors << " descriptors, " << held.mappings << " mappings";
  }
};

inline Held held() {
  Held now;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++now.descriptors;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    now.mappings += line.find("(deleted)") != std::string::npos;
  return now;
}

// At its end the process holds what it held before.
class LeavesNothing {
 public:
  ~LeavesNothing() { EXPECT_EQ(held(), before); }
  const Held before = held();
};

#if defined(TONARI_SANITIZED) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;  // maps terabytes, takes memory and descriptors
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace tonari::test
