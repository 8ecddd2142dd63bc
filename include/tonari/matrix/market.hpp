// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files (Boisvert, Pozo and Remington 1996). Part of matrix_file.hpp.
//
// The Python package reads the same files (python/tonari/graph_files.py); tests/data/matrices has
// files that both must take, and files that both must refuse.
#pragma once

#include <tonari/matrix/number_text.hpp>
#include <tonari/matrix/part.hpp>
#include <tonari/request.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tonari {
inline namespace api0 {
namespace detail {

// Reads a file line by line, and says where something is wrong.
class MatrixMarketFile {
 public:
  MatrixMarketFile(const std::string& path, int rank, int ranks, MatrixPart& part)
      : path_(path), file_(path), part_(part) {
    if (!file_) complain("it cannot be read");
    read_banner();
    read_size();
    part_.owned = part_.size / ranks + (rank < part_.size % ranks);
    part_.first = part_.size / ranks * rank + std::min<std::int64_t>(rank, part_.size % ranks);
    if (dense_)
      read_dense();
    else
      for (std::int64_t k = 0; k < entries_; ++k) read_entry(k);
    if (next_line()) complain("there are more than the " + std::to_string(entries_) + " entries");
    close();
  }

 private:
  struct Entry {
    std::int64_t row, column;
    double value;
  };

  [[noreturn]] void complain(const std::string& what) const {
    throw Failure(TONARI_ERR_FILE,
                  path_ + (line_number_ ? ":" + std::to_string(line_number_) : "") + ": " + what);
  }
  // The next line that has more than blanks and a comment, which is cut off.
  bool next_line() {
    while (std::getline(file_, line_)) {
      ++line_number_;
      line_.erase(std::min(line_.find('%'), line_.size()));
      if (line_.find_first_not_of(blanks) != std::string::npos) return true;
    }
    return false;
  }
  void read_banner() {
    std::getline(file_, line_);
    line_number_ = 1;
    const std::string banner = lower_case(line_);
    std::string_view rest = banner;
    std::array<std::string, 5> words;
    for (std::string& word : words) word = next_word(rest);
    const auto& [mark, object, format, field, symmetry] = words;
    dense_ = format == "array";
    if (mark != "%%matrixmarket" || object != "matrix" || (format != "coordinate" && !dense_) ||
        !next_word(rest).empty())
      complain("expected is '%%MatrixMarket matrix coordinate ...', or array, and two words more");
    pattern_ = field == "pattern";
    if (field != "real" && field != "double" && field != "integer" && field != "unsigned-integer" &&
        (!pattern_ || dense_))
      complain("values are '" + field +
               "'; expected are real, integer or pattern; pattern only of coordinates");
    if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
      complain("it is '" + symmetry + "'; expected is general, symmetric or skew-symmetric");
    mirrored_ = symmetry == "general" ? 0 : symmetry == "symmetric" ? 1 : -1;
  }
  // From where the last one ended.
  std::int64_t whole_number(std::string_view& rest) const {
    const std::string_view before = rest, word = without_plus(next_word(rest));
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (status == std::errc::result_out_of_range)
      complain("expected is a whole number at '" + std::string(before) +
               "', but it does not fit into 64 bits");
    if (status != std::errc() || end != word.data() + word.size())
      complain("expected is a whole number at '" + std::string(before) + "'");
    return number;
  }
  // A row or column, which some programs write as 12.0.
  std::int64_t place(std::string_view& rest) const {
    std::string_view after = rest;
    const std::string_view word = next_word(after);
    const double real =
        word.find_first_of(".eEdD") == word.npos ? 0.5 : real_number(without_plus(word));
    if (!(std::abs(real) < 9e15 && real == std::floor(real))) return whole_number(rest);
    rest = after;
    return static_cast<std::int64_t>(real);
  }
  double value(std::string_view& rest) const {
    const double value = real_number(next_word(rest));
    if (!std::isfinite(value)) complain("the value is no finite number");
    return value;
  }
  void expect_end(std::string_view rest) const {
    if (rest.find_first_not_of(blanks) != rest.npos)
      complain("nothing is expected at '" + std::string(rest) + "'");
  }
  void read_size() {
    if (!next_line()) complain("it ends before its size");
    std::string_view rest = line_;
    part_.size = whole_number(rest);
    const std::int64_t columns = whole_number(rest);
    entries_ = dense_ ? 0 : whole_number(rest);
    expect_end(rest);
    if (part_.size < 0 || part_.size != columns || entries_ < 0)
      complain("the matrix has " + std::to_string(part_.size) + " rows, " +
               std::to_string(columns) + " columns and " + std::to_string(entries_) +
               " entries; expected is a square one");
  }
  void next_entry(std::int64_t k) {
    if (!next_line())
      complain("it ends after " + std::to_string(k) + " of " + std::to_string(entries_) +
               " entries");
  }
  void read_entry(std::int64_t k) {
    next_entry(k);
    std::string_view rest = line_;
    const std::int64_t from_1_row = place(rest), from_1_column = place(rest);
    if (std::min(from_1_row, from_1_column) < 1 || std::max(from_1_row, from_1_column) > part_.size)
      complain("the entry is in row " + std::to_string(from_1_row) + " and column " +
               std::to_string(from_1_column) + "; the matrix has " + std::to_string(part_.size));
    const double read = pattern_ ? 1 : value(rest);
    expect_end(rest);
    keep_both({from_1_row - 1, from_1_column - 1, read});
  }
  // Column by column; of a symmetric matrix what is on and below the diagonal, of a skew one below.
  void read_dense() {
    constexpr std::int64_t most = 1 << 20;
    if (part_.size > most)
      complain("a dense matrix of " + std::to_string(part_.size) + " rows is too large");
    const std::int64_t n = part_.size;
    entries_ = mirrored_ == 0 ? n * n : n * (n + mirrored_) / 2;
    std::int64_t k = 0;
    for (std::int64_t column = 0; column < n; ++column)
      for (std::int64_t row = mirrored_ == 0 ? 0 : column + (mirrored_ < 0); row < n; ++row) {
        next_entry(k++);
        std::string_view rest = line_;
        const double read = value(rest);
        expect_end(rest);
        if (read != 0) keep_both({row, column, read});
      }
  }
  void keep_both(const Entry& entry) {
    keep(entry);
    if (mirrored_ != 0 && entry.row != entry.column)
      keep({entry.column, entry.row, mirrored_ * entry.value});
  }
  void keep(const Entry& entry) {
    if (entry.row >= part_.first && entry.row < part_.first + part_.owned) kept_.push_back(entry);
  }
  void make_rows() {
    try {
      part_.begin.assign(static_cast<std::size_t>(part_.owned) + 1, 0);
    } catch (const std::exception&) {
      complain("there is no memory for the " + std::to_string(part_.owned) + " rows of a rank");
    }
  }
  // Rows in order, and the columns of each, too.
  void close() {
    std::ranges::sort(kept_, {},
                      [](const Entry& e) { return std::tuple(e.row, e.column, e.value); });
    make_rows();
    for (const Entry& entry : kept_) {
      ++part_.begin[static_cast<std::size_t>(entry.row - part_.first) + 1];
      part_.columns.push_back(entry.column);
      part_.values.push_back(entry.value);
    }
    for (std::size_t r = 1; r < part_.begin.size(); ++r) part_.begin[r] += part_.begin[r - 1];
  }

  std::string path_, line_;
  std::ifstream file_;
  MatrixPart& part_;
  std::int64_t line_number_ = 0, entries_ = 0;
  bool pattern_ = false, dense_ = false;
  int mirrored_ = 0;
  std::vector<Entry> kept_;
};

}  // namespace detail
}  // namespace api0
}  // namespace tonari
