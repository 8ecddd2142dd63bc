// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"

namespace bench {
using tonari::Errc;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

long long whole(const std::string& text, long long least, long long most, const char* what) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    tonari::fail(Errc::argument, what, " is '", text, "'; it must be a whole number from ", least,
                 " to ", most);
  return value;
}

double seconds(const std::string& text, const char* what) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0)
    tonari::fail(Errc::argument, what, " is '", text,
                 "'; it must be a number of seconds, 0 or more");
  return value;
}

}  // namespace bench
