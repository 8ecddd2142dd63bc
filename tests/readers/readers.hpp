// SPDX-License-Identifier: BSD-3-Clause
// All readers of files and texts that a user or a stranger may have written, each as a function of
// bytes. A new reader is a row of the table.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tonari::test {

struct Reader {
  const char* name;
  std::vector<std::string> examples;  // that are right
  // Throws Wrong if something comes out that cannot be. What is refused is no mistake.
  void (*read)(const std::string& bytes);
};

struct Wrong {
  std::string sentence;
};

std::span<const Reader> readers();

}  // namespace tonari::test
