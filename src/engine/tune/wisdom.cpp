// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/wisdom.hpp"

#include <cmath>
#include <utility>

#include "engine/comm/finding.hpp"
#include "engine/wait/agree.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

// The version of what takes part in contests besides the table's algorithms, which count
// themselves. Raise it when something is added, so that older wisdom, which did not know it, is
// ignored.
constexpr const char* wisdom_version = "5";

}  // namespace

int size_class(double bytes) {
  return bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(8 * std::log2(bytes)));
}

std::string wisdom_key(Context& context, const std::string& question) {
  return text(context.machine_key(), "|", wisdom_version, ".", algorithms().size(), "|", question);
}

namespace {

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

std::vector<Remembered> recall(Context& context, std::span<const std::string> keys, Trials trials) {
  return remembered_from_lines(
      broadcast_line(context.comm(), context.rank() == 0 ? lines_of(keys, trials) : std::string()));
}

void remember(Context& context, const std::string& key, const Remembered& remembered) {
  if (context.rank() == 0) (void)write_wisdom(key, remembered);
}

}  // namespace tonari
