// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/patterns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/classic.hpp"
#include "base/error.hpp"
#include "base/split.hpp"

namespace tonari {
namespace {

constexpr double max_offsets = 1 << 24;

int parse_int(const std::string& word, const std::string& where, int low, int high) {
  int value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || value < low || value > high)
    fail(Errc::argument, "'", word, "' in '", where, "' must be an integer from ", low, " to ",
         high);
  return value;
}

// All offsets of the box [low, high]^d in row order for which keep() holds, the zero vector left
// out.
std::vector<Vec> box(int d, int low, int high, const std::string& pattern,
                     const std::function<bool(const Vec&)>& keep) {
  if (d * std::log2(high - low + 1.0) > std::log2(max_offsets))
    fail(Errc::argument, "'", pattern, "' has more than ", static_cast<long>(max_offsets),
         " neighbors; use a smaller radius");
  std::vector<Vec> offsets;
  Vec offset;
  std::fill_n(offset.begin(), d, low);
  for (bool more = true; more;) {
    if (!offset.is_zero() && keep(offset)) offsets.push_back(offset);
    int j = d - 1;
    while (j >= 0 && offset[j] == high) offset[j--] = low;
    if ((more = j >= 0)) ++offset[j];
  }
  return offsets;
}

int chebyshev(const Vec& offset) {
  int distance = 0;
  for (int c : offset) distance = std::max(distance, std::abs(c));
  return distance;
}

Vec parse_line(std::string line, const std::string& path, int& dimensions) {
  std::replace(line.begin(), line.end(), ',', ' ');
  Classic<std::istringstream> words(line);
  Vec offset;
  int d = 0;
  for (std::string word; words >> word; ++d) {
    if (d == max_dimensions)
      fail(Errc::file, path, ": more than ", max_dimensions, " coordinates in '", line, "'");
    offset[d] = parse_int(word, path, -1000000, 1000000);
  }
  if (dimensions != 0 && d != 0 && d != dimensions)
    fail(Errc::file, path, ": '", line, "' has ", d, " coordinates, the lines before have ",
         dimensions);
  if (d != 0) dimensions = d;
  return d != 0 ? offset : Vec{};
}

Pattern read_file(const std::string& path) {
  Classic<std::ifstream> in(path);
  if (!in)
    fail(Errc::file, "'", path,
         "' is neither moore:d:r, star:d:r, octant:d[:r], shells:d:r1,r2 nor a readable file of "
         "offsets");
  Pattern pattern{0, {}};
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r,") == std::string::npos) continue;
    pattern.offsets.push_back(parse_line(line, path, pattern.dimensions));
  }
  if (pattern.dimensions == 0)
    fail(Errc::file, path, " holds no offset; write one per line, for example '1 0 -1'");
  return pattern;
}

std::vector<Vec> offsets_of(const std::string& kind, int d, const std::string& radii,
                            const std::string& pattern) {
  if (kind == "shells") {
    std::vector<int> wanted;
    for (const std::string& r : split(radii, ",")) wanted.push_back(parse_int(r, pattern, 1, 1000));
    const int most = *std::max_element(wanted.begin(), wanted.end());
    return box(d, -most, most, pattern, [&](const Vec& v) {
      return std::find(wanted.begin(), wanted.end(), chebyshev(v)) != wanted.end();
    });
  }
  const int r = parse_int(radii, pattern, 1, 1000);
  if (kind == "moore") return box(d, -r, r, pattern, [](const Vec&) { return true; });
  if (kind == "octant") return box(d, 0, r, pattern, [](const Vec&) { return true; });
  std::vector<Vec> offsets;  // star
  for (int j = 0; j < d; ++j)
    for (int c = -r; c <= r; ++c)
      if (c != 0) (offsets.emplace_back())[j] = c;
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace

Pattern parse_pattern(const std::string& pattern) {
  std::vector<std::string> parts = split(pattern, ":");
  static const char* const kinds[] = {"moore", "star", "octant", "shells"};
  const bool named = std::find(std::begin(kinds), std::end(kinds), parts[0]) != std::end(kinds);
  if (!named) return read_file(pattern);
  if (parts[0] == "octant" && parts.size() == 2) parts.push_back("1");
  if (parts.size() != 3)
    fail(Errc::argument, "'", pattern,
         "' must read like moore:3:1, star:3:2, octant:3 or shells:3:3,7");
  const int d = parse_int(parts[1], pattern, 1, max_dimensions);
  return {d, offsets_of(parts[0], d, parts[2], pattern)};
}

}  // namespace tonari
