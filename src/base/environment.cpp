// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tonari {
namespace {

constexpr std::string_view prefix = "TONARI_";
static_assert(std::ranges::all_of(setting_table, [](const Setting& row) {
  return !*row.variable || std::string_view(row.variable).starts_with(prefix);
}));

bool has_prefix(const char* entry) {  // most entries of an environment are not ours
  return *entry == prefix[0] && std::strncmp(entry, prefix.data(), prefix.size()) == 0;
}

// The value in "NAME=value", if that is the variable; both have the prefix.
const char* value_in(const char* entry, const char* variable) {
  if (entry[prefix.size()] != variable[prefix.size()]) return nullptr;
  const std::size_t length = std::strlen(variable);
  const bool same = std::strncmp(entry, variable, length) == 0 && entry[length] == '=';
  return same ? entry + length + 1 : nullptr;
}

}  // namespace

Variables::Variables(Where calls) {
  for (char** entry = environ; entry && *entry; ++entry) {
    if (!has_prefix(*entry)) continue;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const Setting& row = setting_table[k];
      const bool asked = *row.variable && row.where & calls && !values_[k];
      const char* const value = asked ? value_in(*entry, row.variable) : nullptr;
      if (!value || !*value) continue;
      values_[k] = value;
      any_ = any_ || row.member.read;
    }
  }
}

}  // namespace tonari
