// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/hash.hpp"
#include "base/nearest_name.hpp"

namespace tonari {
namespace {

// Info keys are read into members, each of a type for such values.
static_assert(std::ranges::all_of(setting_table,
                                  [](const Setting& row) { return row.member.fits(row); }));

// The command line and its programs read these.
constexpr const char* other_variables[] = {"TONARI_BUILD"};

bool exists(const std::string& name, std::span<const std::string> known) {
  return std::ranges::find(known, name) != known.end();
}

}  // namespace

bool read_ready(const std::string& word, std::optional<int>& ready) {
  int degree = 0;
  if (word.starts_with("tree/"))
    std::from_chars(word.data() + 5, word.data() + word.size(), degree);
  ready = word == "auto" ? std::nullopt : std::optional(degree);
  return !ready || word == "each" || (degree >= 2 && degree <= 64 && word == text("tree/", degree));
}

std::uint64_t fingerprint(const Settings& settings, Where only) {
  Hash all;
  for (const Setting& row : setting_table)
    if (row.member.read && row.affects >= Affects::all_ranks && !(row.where & ~only))
      row.member.put(settings, all);
  return all.value();
}

std::string choice_key(const Settings& settings) {
  static const Settings defaults;
  std::string all;
  for (const Setting& row : setting_table)
    if (row.affects >= Affects::choices && !row.member.same(settings, defaults))
      all += std::string("|") + row.key + " " + row.member.shown(settings);
  return all;
}

std::optional<std::string> unknown_key(const std::string& key) {
  if (!key.starts_with("tonari_") && !key.starts_with("cdag_")) return std::nullopt;
  if (std::ranges::any_of(setting_table, [&](const Setting& row) { return key == row.key; }))
    return std::nullopt;  // without memory: some calls ask this each time
  std::vector<std::string> known;
  for (const Setting& row : setting_table)
    if (*row.key) known.emplace_back(row.key);
  const std::string meant = nearest_name(key, known);
  return text("there is no info key ", key,
              meant.empty() ? "; `tonari settings` lists those that there are"
                            : "; did you mean " + meant + "?");
}

std::optional<std::string> unknown_variable(const std::string& variable) {
  if (!variable.starts_with("TONARI_")) return std::nullopt;
  std::vector<std::string> known(std::begin(other_variables), std::end(other_variables));
  for (const Setting& row : setting_table)
    if (*row.variable) known.emplace_back(row.variable);
  const std::string meant = nearest_name(variable, known);
  if (exists(variable, known) || meant.empty()) return std::nullopt;
  return text("the environment variable ", variable, " is not read; did you mean ", meant, "?");
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string> sentences;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view definition(*entry);
    if (const auto sentence =
            unknown_variable(std::string(definition.substr(0, definition.find('=')))))
      sentences.push_back(*sentence);
  }
  return sentences;
}

}  // namespace tonari
