// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace bench {

namespace {

std::string json_string(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

#if defined(OPEN_MPI)
std::string mpi_name() { return "openmpi"; }
std::string mpi_version() {
  return std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
         std::to_string(OMPI_RELEASE_VERSION);
}
#elif defined(MPICH_VERSION)
std::string mpi_name() { return "mpich"; }
std::string mpi_version() { return MPICH_VERSION; }
#else
// The mpi.h of the standard ABI is of no MPI, so the one that runs is asked.
std::string library_version() {
  std::string text(16384, '\0');  // more than any MPI writes
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.substr(0, static_cast<std::size_t>(length));
}
std::string mpi_name() {
  const std::string text = library_version();
  if (text.starts_with("Open MPI")) return "openmpi";
  return text.starts_with("Intel") ? "intel" : "mpich";
}
// "MPICH Version: 5.0.2", "Open MPI v6.0.0, package", "Intel(R) MPI Library 2021.17 for Linux"
std::string mpi_version() {
  const std::string text = library_version();
  const char* const digits = "0123456789";
  const std::size_t first = std::min(text.find_first_of(digits), text.size());
  const std::size_t end = text.find_first_not_of("0123456789.", first);
  return text.substr(first, end - first);
}
#endif

}  // namespace

Row& Row::text(const char* key, const std::string& value) {
  return fields_.emplace_back(key, json_string(value)), *this;
}

Row& Row::number(const char* key, double value) {
  if (!std::isfinite(value)) return null(key);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return fields_.emplace_back(key, digits), *this;
}

Row& Row::whole(const char* key, long long value) {
  return fields_.emplace_back(key, std::to_string(value)), *this;
}
Row& Row::maybe(const char* key, std::optional<long> value) {
  return value ? whole(key, *value) : null(key);
}
Row& Row::flag(const char* key, bool value) {
  return fields_.emplace_back(key, value ? "true" : "false"), *this;
}
Row& Row::null(const char* key) { return fields_.emplace_back(key, "null"), *this; }
Row& Row::ratio(const char* key, double above, double below) {
  return above > 0 && below > 0 ? number(key, above / below) : null(key);
}
Row& Row::quartiles(const Spread& s) {
  number("median_us", s.median * 1e6).number("q1_us", s.q1 * 1e6);
  return number("q3_us", s.q3 * 1e6).number("min_us", s.least * 1e6);
}
Row& Row::mpi() { return text("mpi", mpi_name()).text("mpi_version", mpi_version()); }

std::ostream& operator<<(std::ostream& out, const std::vector<Row>& rows) {
  out << "[";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out << (r ? ",\n {" : "\n {");
    for (std::size_t f = 0; f < rows[r].fields_.size(); ++f)
      out << (f ? ", " : "") << json_string(rows[r].fields_[f].first) << ": "
          << rows[r].fields_[f].second;
    out << "}";
  }
  return out << "\n]\n";
}

}  // namespace bench
