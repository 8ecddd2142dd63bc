#include "engine/wisdom.hpp"

#include <cmath>
#include <cstdlib>

#include "engine/agree.hpp"
#include "planners/registry.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

// The version of what takes part in contests besides the table's algorithms, which count
// themselves. Raise it when something is added, so that older wisdom, which did not know it, is
// ignored.
constexpr const char* wisdom_version = "3";

}  // namespace

std::string to_text(const Remembered& remembered) {
  return text(remembered.label, "|", remembered.times.seconds, "|", remembered.times.native);
}

Remembered remembered_from_text(const std::string& line) {
  const std::size_t first = line.find('|'), second = line.find('|', first + 1);
  if (first == line.npos || second == line.npos) return {line};
  return {line.substr(0, first),
          {std::atof(line.c_str() + first + 1), std::atof(line.c_str() + second + 1)}};
}

int size_class(double bytes) {
  return bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(8 * std::log2(bytes)));
}

std::string wisdom_key(Context& context, const std::string& question) {
  return text(context.machine_key(), "|", wisdom_version, ".", algorithms().size(), "|", question);
}

std::optional<Remembered> recall(Context& context, const std::string& key) {
  std::string line;
  if (context.rank() == 0) line = CacheFile(cache_directory(), "wisdom").get(key).value_or("");
  line = broadcast(context.comm(), line);
  return line.empty() ? std::nullopt : std::optional(remembered_from_text(line));
}

void remember(Context& context, const std::string& key, const Remembered& remembered) {
  if (context.rank() == 0) CacheFile(cache_directory(), "wisdom").put(key, to_text(remembered));
}

}  // namespace tonari
