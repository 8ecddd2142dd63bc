// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wisdom.hpp"

#include <cmath>
#include <utility>

#include "base/classic.hpp"
#include "base/split.hpp"
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

int size_class(double bytes) {
  return bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(8 * std::log2(bytes)));
}

std::string wisdom_key(Context& context, const std::string& question) {
  return text(context.machine_key(), "|", wisdom_version, ".", algorithms().size(), "|", question);
}

namespace {

CacheFile wisdom_file() { return {cache_directory(), "wisdom"}; }

// What is untried: for those who try one the first, if it could be noted that it no longer is.
void leave_one_trial(const CacheFile& file, const std::string& key, Trials trials,
                     Remembered& known) {
  const std::vector<std::string> untried = std::exchange(known.untried, {});
  if (trials == Trials::none || untried.empty()) return;
  const Remembered rest{known.label, known.times, {untried.begin() + 1, untried.end()}};
  if (file.put(key, to_text(rest))) known.untried = {untried.front()};
}

// One line each; they hold no line breaks.
std::string lines_of(std::span<const std::string> keys, Trials trials) {
  Finding::write_all();
  const CacheFile file = wisdom_file();
  std::string lines;
  for (const std::string& key : keys)
    if (const auto line = file.get(key)) {
      Remembered known = remembered_from_text(*line);
      leave_one_trial(file, key, lines.empty() ? trials : Trials::none, known);
      lines += to_text(known) + '\n';
    }
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

std::vector<Remembered> recall(Context& context, std::span<const std::string> keys, Trials trials) {
  return remembered_from_lines(
      broadcast_line(context.comm(), context.rank() == 0 ? lines_of(keys, trials) : std::string()));
}

bool write_wisdom(const std::string& key, const Remembered& remembered) {
  return wisdom_file().put(key, to_text(remembered));
}

void write_winner(const std::string& key, Remembered remembered) {
  if (const auto line = wisdom_file().get(key))
    remembered.untried = remembered_from_text(*line).untried;
  (void)write_wisdom(key, remembered);
}

void remember(Context& context, const std::string& key, const Remembered& remembered) {
  if (context.rank() == 0) (void)write_wisdom(key, remembered);
}

}  // namespace tonari
