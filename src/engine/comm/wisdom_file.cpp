// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/wisdom_file.hpp"

#include <cstdio>
#include <mutex>

#include "base/classic.hpp"
#include "base/error.hpp"
#include "base/split.hpp"

namespace tonari {
namespace {

// Once per process: only rank 0 reads and writes wisdom.
void warn_of_cache_directory() {
  static std::once_flag once;
  (void)error_of([&] {  // without memory there is no warning
    std::call_once(once, [] {
      if (const auto wrong = wrong_cache_directory())
        std::fprintf(stderr, "tonari: warning: %s\n", wrong->c_str());
    });
  });
}

}  // namespace

std::string to_text(const Remembered& remembered) {
  std::string line =
      text(remembered.label, "|", remembered.times.seconds, "|", remembered.times.native);
  for (const std::string& label : remembered.untried) line += "|" + label;
  return line;
}

Remembered remembered_from_text(const std::string& line) {
  const std::vector<std::string> parts = split(line, "|");
  if (parts.size() < 3) return {line};
  const auto seconds = [&](std::size_t k) { return real_number(parts[k]).value_or(0); };
  return {parts[0], {seconds(1), seconds(2)}, {parts.begin() + 3, parts.end()}};
}

// Without a stream: one that has no memory for a line ends early and says nothing. Its rank would
// go on alone as if nothing were remembered.
std::vector<Remembered> remembered_from_lines(const std::string& lines) {
  std::vector<Remembered> all;
  for (std::size_t begin = 0, end; (end = lines.find('\n', begin)) != lines.npos; begin = end + 1)
    all.push_back(remembered_from_text(lines.substr(begin, end - begin)));
  return all;
}

CacheFile wisdom_file() {
  std::string directory = cache_directory();
  if (directory.empty()) warn_of_cache_directory();
  return {std::move(directory), "wisdom"};
}

bool write_wisdom(const std::string& key, const Remembered& remembered) {
  return wisdom_file().put(key, to_text(remembered));
}

void write_winner(const std::string& key, Remembered remembered) {
  if (const auto line = wisdom_file().get(key))
    remembered.untried = remembered_from_text(*line).untried;
  (void)write_wisdom(key, remembered);
}

}  // namespace tonari
