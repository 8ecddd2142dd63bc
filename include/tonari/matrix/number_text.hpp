// SPDX-License-Identifier: BSD-3-Clause
// Numbers out of text, the same in every locale: setlocale and std::locale::global change what
// strtod and streams make of a point. Part of matrix_file.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace tonari {
inline namespace api0 {
namespace detail {

inline constexpr std::string_view blanks = " \t\r\v\f";

// The next word of a text, which is cut off there; empty at the end.
inline std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

// ASCII only, as in files: where Turkish is spoken, tolower knows another i.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// from_chars takes no plus sign.
inline std::string_view without_plus(std::string_view word) {
  const bool plus = word.starts_with('+') && word.find_first_of("+-", 1) != 1;
  return plus ? word.substr(1) : word;
}

// Whether a number is too small for a double rather than too large.
inline bool is_tiny(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  long exponent = 0;
  if (e < number.size()) {
    const std::string_view digits = without_plus(number.substr(e + 1));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (read.ec != std::errc()) return digits.starts_with('-');
  }
  const std::string_view mantissa = number.substr(0, e);
  const auto place = [&](std::size_t at) { return static_cast<long>(at); };
  const long point = place(std::min(mantissa.find('.'), mantissa.size()));
  const long first = place(std::min(mantissa.find_first_of("123456789"), mantissa.size()));
  return exponent < first - point;
}

// A real number as C or Fortran (1.5D+00) writes it. No finite number (NaN) where it is none, or
// too large for a double.
inline double real_number(std::string_view word) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string in_c;
  if (word.find_first_of("dD") != word.npos) {
    in_c = word;
    std::ranges::replace_if(in_c, [](char c) { return c == 'd' || c == 'D'; }, 'e');
    word = in_c;
  }
  word = without_plus(word);
  double value = none;
#if defined(__cpp_lib_to_chars)
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return none;
  if (status == std::errc::result_out_of_range) return is_tiny(word) ? 0 : none;
  return status == std::errc() ? value : none;
#else  // libc++ before 20
  std::istringstream in{std::string(word)};
  in.imbue(std::locale::classic());
  in >> value;
  if (in.fail() && value == 0) return is_tiny(word) ? 0 : none;
  return !in.fail() && in.peek() == std::istringstream::traits_type::eof() ? value : none;
#endif
}

}  // namespace detail
}  // namespace api0
}  // namespace tonari
