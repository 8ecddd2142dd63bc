// SPDX-License-Identifier: BSD-3-Clause
// Text that is the same in every locale: programs call setlocale and std::locale::global, and then
// strtod, printf and streams write 1.234,5 and want it so.
#pragma once

#include <array>
#include <charconv>
#include <locale>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tonari {

// A stream in the locale of C.
template <class Stream>
class Classic : public Stream {
 public:
  template <class... Arguments>
  explicit Classic(Arguments&&... arguments) : Stream(std::forward<Arguments>(arguments)...) {
    this->imbue(std::locale::classic());
  }
};

// A word that is a number and nothing else, infinite and no numbers included.
inline std::optional<double> real_number(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// As printf writes it with %.<digits>f.
inline std::string with_decimals(double value, int digits) {
  std::array<char, 512> text{};  // the largest number has 309 digits in front of the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

// ASCII only: Turkish has another lower case of I.
inline char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace tonari
