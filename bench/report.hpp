// Rows of results, and how they are written: a JSON array of flat objects.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class Row {
 public:
  Row& text(const char* key, const std::string& value);
  Row& number(const char* key, double value);  // six digits
  Row& whole(const char* key, long long value);
  Row& maybe(const char* key, std::optional<long> value);
  Row& flag(const char* key, bool value);
  Row& null(const char* key);

 private:
  friend std::ostream& operator<<(std::ostream& out, const std::vector<Row>& rows);
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace bench
