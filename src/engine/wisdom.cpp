// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wisdom.hpp"

#include <cmath>

#include "base/classic.hpp"
#include "engine/agree.hpp"
#include "engine/finding.hpp"
#include "planners/registry.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

// The version of what takes part in contests besides the table's algorithms, which count
// themselves. Raise it when something is added, so that older wisdom, which did not know it, is
// ignored.
constexpr const char* wisdom_version = "4";

}  // namespace

std::string to_text(const Remembered& remembered) {
  return text(remembered.label, "|", remembered.times.seconds, "|", remembered.times.native);
}

Remembered remembered_from_text(const std::string& line) {
  const std::size_t first = line.find('|'), second = line.find('|', first + 1);
  if (first == line.npos || second == line.npos) return {line};
  const auto seconds = [&](std::size_t begin, std::size_t end) {
    return real_number(line.substr(begin, end - begin)).value_or(0);
  };
  return {line.substr(0, first), {seconds(first + 1, second), seconds(second + 1, line.size())}};
}

int size_class(double bytes) {
  return bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(8 * std::log2(bytes)));
}

std::string wisdom_key(Context& context, const std::string& question) {
  return text(context.machine_key(), "|", wisdom_version, ".", algorithms().size(), "|", question);
}

namespace {

CacheFile wisdom_file() { return {cache_directory(), "wisdom"}; }

// One line each; they hold no line breaks.
std::string lines_of(std::span<const std::string> keys) {
  Finding::write_all();
  const CacheFile file = wisdom_file();
  std::string lines;
  for (const std::string& key : keys)
    if (const auto line = file.get(key)) lines += *line + '\n';
  return lines;
}

}  // namespace

// Without a stream: one that has no memory for a line ends early and says nothing. Its rank would
// go on alone as if nothing were remembered.
std::vector<Remembered> remembered_from_lines(const std::string& lines) {
  std::vector<Remembered> all;
  for (std::size_t begin = 0, end; (end = lines.find('\n', begin)) != lines.npos; begin = end + 1)
    all.push_back(remembered_from_text(lines.substr(begin, end - begin)));
  return all;
}

std::vector<Remembered> recall(Context& context, std::span<const std::string> keys) {
  return remembered_from_lines(
      broadcast_line(context.comm(), context.rank() == 0 ? lines_of(keys) : std::string()));
}

void write_wisdom(const std::string& key, const Remembered& remembered) {
  wisdom_file().put(key, to_text(remembered));
}

void remember(Context& context, const std::string& key, const Remembered& remembered) {
  if (context.rank() == 0) write_wisdom(key, remembered);
}

}  // namespace tonari
