// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/classic.hpp"
#include "base/nearest_name.hpp"
#include "base/split.hpp"

namespace tonari {
namespace {

using enum ValueKind;

// In the order of Where.
constexpr const char* places[] = {
    "neighborhoods",     "requests",         "grids",         "vectors",   "blocks",
    "in place",          "sparse exchanges", "shared memory", "measuring", "MPI_Finalize",
    "libtonari_preload", "libtonari_advise"};

// The words as a sentence has them: "calls or thread", "auto, off, model or measure".
std::string any_of(const std::vector<std::string>& words) {
  std::string list = words.front();
  for (std::size_t k = 1; k < words.size(); ++k)
    list += (k + 1 < words.size() ? ", " : " or ") + words[k];
  return list;
}

// The unit of a size stands for 2 to the power of this; nothing if there is no such unit. The same
// rule as in python/tonari/sizes.py: K, M and G, or KiB, MiB and GiB, in any case.
std::optional<int> shift_of(std::string unit) {
  if (unit.empty()) return 0;
  for (char& c : unit) c = lower_case(c);
  const std::size_t power = std::string_view("kmg").find(unit[0]);
  const bool known =
      power != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "ib");
  return known ? std::optional(10 * (static_cast<int>(power) + 1)) : std::nullopt;
}

}  // namespace

std::string name_of(const Setting& row) {
  if (!*row.key || !*row.variable) return *row.key ? row.key : row.variable;
  return text(row.key, " (", row.variable, ")");
}

std::string where_of(const Setting& row) {
  std::string list;
  for (std::size_t bit = 0; bit < std::size(places); ++bit)
    if (row.where >> bit & 1) list += (list.empty() ? "" : ", ") + std::string(places[bit]);
  return list;
}

std::optional<std::string> in_environment(const Setting& row) {
  const char* const value = *row.variable ? std::getenv(row.variable) : nullptr;
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> choices(const Setting& row) { return split(row.values, ", "); }

void refuse_value(const Setting& row, const std::string& word) {
  if (row.kind != one_of)
    fail(row.wrong, name_of(row), " is '", word, "'; it must be ", row.values);
  const std::vector<std::string> known = choices(row);
  fail(row.wrong, name_of(row), " is '", word, "'; it must be ", any_of(known),
       did_you_mean(word, known));
}

std::size_t read_choice(const Setting& row, const std::string& word) {
  const std::vector<std::string> all =
      row.kind == promise ? std::vector<std::string>{"false", "true"} : choices(row);
  const auto found = std::ranges::find(all, word);
  if (found == all.end()) refuse_value(row, word);
  return static_cast<std::size_t>(found - all.begin());
}

std::uint64_t read_count(const Setting& row, const std::string& word, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || value > most)
    refuse_value(row, word);
  return value;
}

std::uint64_t read_size(const Setting& row, const std::string& word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::optional<int> shift = shift_of(word.substr(digits));
  if (!shift) refuse_value(row, word);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + digits, value);
  if (status != std::errc() || value > UINT64_MAX >> *shift) refuse_value(row, word);
  return value << *shift;
}

double read_seconds(const Setting& row, const std::string& word) {
  const std::optional<double> value = real_number(word);
  if (!value || !(*value > 0) || !std::isfinite(*value)) refuse_value(row, word);
  return *value;
}

}  // namespace tonari
