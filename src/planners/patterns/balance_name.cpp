// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/balance_name.hpp"

#include <charconv>
#include <vector>

#include "base/error.hpp"
#include "base/split.hpp"

namespace tonari {
namespace {

std::optional<double> number(const std::string& word) {
  double value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, status] = std::from_chars(word.data(), last, value, std::chars_format::fixed);
  return status == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

[[noreturn]] void refuse(const std::string& name) {
  fail(Errc::algorithm, "there is no algorithm 'balanced/", name,
       "'; give '2 stages' to '8 stages', which may go on with ' price X', X >= 0, and then with ' "
       "words Y', Y >= 1; or 'words Y'");
}

}  // namespace

bool names_a_balance(const std::string& name) {
  return name.starts_with("words") || (!name.empty() && name.front() >= '0' && name.front() <= '9');
}

BalanceOptions balance_named(const std::string& name) {
  const std::vector<std::string> words = split(name, " ");
  BalanceOptions options;
  if (words.size() == 2 && words[0] == "words") {
    const std::optional<double> limit = number(words[1]);
    if (!limit || !(*limit >= 1)) refuse(name);
    return {any_stages, options.price, *limit};
  }
  if (words.size() % 2 != 0 || words.size() > 6 || words[0].size() != 1 || words[0] < "2" ||
      words[0] > "8" || words[1] != "stages")
    refuse(name);
  options.stages = words[0].front() - '0';
  for (std::size_t k = 2; k < words.size(); k += 2) {
    const std::optional<double> value = number(words[k + 1]);
    const bool price = words[k] == "price" && k == 2;
    if (!value || (!price && words[k] != "words") || !(*value >= (price ? 0 : 1))) refuse(name);
    (price ? options.price : options.words) = *value;
    if (!price && k + 2 < words.size()) refuse(name);
  }
  return options;
}

}  // namespace tonari
