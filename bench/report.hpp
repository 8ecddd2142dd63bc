// SPDX-License-Identifier: BSD-3-Clause
// Rows of results, and how they are written: a JSON array of flat objects.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace bench {

class Row {
 public:
  Row& text(const char* key, const std::string& value);
  Row& number(const char* key, double value);  // six digits
  Row& whole(const char* key, long long value);
  Row& maybe(const char* key, std::optional<long> value);
  Row& flag(const char* key, bool value);
  Row& null(const char* key);
  Row& ratio(const char* key, double above, double below);  // null unless both are known
  Row& quartiles(const Spread& seconds);                    // median_us, q1_us, q3_us, min_us
  Row& mpi();                                               // mpi and mpi_version

 private:
  friend std::ostream& operator<<(std::ostream& out, const std::vector<Row>& rows);
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace bench
