// SPDX-License-Identifier: BSD-3-Clause
// Many sets of ranks as rows of bits. A row is made of lines, 512 bits each, which are a cache line
// and a few vector instructions; thin rows are cheap, as a summary says which lines have any bit.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tonari {

class BitRows {
 public:
  BitRows() = default;
  BitRows(std::size_t rows, int columns)
      : lines_((static_cast<std::size_t>(columns) + 511) / 512),
        summary_((lines_ + 63) / 64),
        bits_(rows * lines_),
        summaries_(rows * summary_, 0) {}

  bool test(std::size_t row, int column) const {
    return line(row, column).words[column / 64 % 8] >> column % 64 & 1;
  }
  void set(std::size_t row, int column) {
    line(row, column).words[column / 64 % 8] |= std::uint64_t{1} << column % 64;
    summary(row, column) |= std::uint64_t{1} << column / 512 % 64;
  }
  void clear(std::size_t row, int column) {
    Line& bits = line(row, column);
    bits.words[column / 64 % 8] &= ~(std::uint64_t{1} << column % 64);
    if (!bits.any()) summary(row, column) &= ~(std::uint64_t{1} << column / 512 % 64);
  }
  bool any(std::size_t row) const {
    std::uint64_t bits = 0;
    for (std::size_t s = 0; s < summary_; ++s) bits |= summaries_[row * summary_ + s];
    return bits != 0;
  }
  void clear_row(std::size_t row) {
    for_each_line(row, *this, row,
                  [&](std::size_t k, const Line&, const Line&) { bits_[row * lines_ + k] = {}; });
    for (std::size_t s = 0; s < summary_; ++s) summaries_[row * summary_ + s] = 0;
  }
  // This row becomes another one of these rows, and a row of others with it.
  void assign_united(std::size_t row, std::size_t its_row, const BitRows& others,
                     std::size_t other) {
    if (row != its_row) {
      clear_row(row);
      unite(row, *this, its_row);
    }
    unite(row, others, other);
  }
  void unite(std::size_t row, const BitRows& with, std::size_t its_row) {
    with.for_each_line(its_row, with, its_row, [&](std::size_t k, const Line& its, const Line&) {
      Line& own = bits_[row * lines_ + k];
      for (std::size_t w = 0; w < 8; ++w) own.words[w] |= its.words[w];
    });
    for (std::size_t s = 0; s < summary_; ++s)
      summaries_[row * summary_ + s] |= with.summaries_[its_row * summary_ + s];
  }

  // f(column), ascending, of the bits that both rows have; the same row twice: of that row.
  template <class F>
  void for_each_common(std::size_t row, const BitRows& other, std::size_t its_row, F f) const {
    for_each_line(row, other, its_row, [&](std::size_t k, const Line& own, const Line& its) {
      for (std::size_t w = 0; w < 8; ++w)
        for (std::uint64_t word = own.words[w] & its.words[w]; word; word &= word - 1)
          f(static_cast<int>(k * 512 + w * 64) + std::countr_zero(word));
    });
  }
  bool meet(std::size_t row, const BitRows& other, std::size_t its_row) const {
    std::uint64_t common = 0;
    for_each_line(row, other, its_row, [&](std::size_t, const Line& own, const Line& its) {
      for (std::size_t w = 0; w < 8; ++w) common |= own.words[w] & its.words[w];
    });
    return common != 0;
  }
  int count_common(std::size_t row, const BitRows& other, std::size_t its_row) const {
    std::uint64_t count = 0;
    for_each_line(row, other, its_row, [&](std::size_t, const Line& own, const Line& its) {
      count += own.count_common(its);
    });
    return static_cast<int>(count);
  }

 private:
  struct alignas(64) Line {
    std::array<std::uint64_t, 8> words{};

    bool any() const {
      std::uint64_t all = 0;
      for (std::uint64_t word : words) all |= word;
      return all != 0;
    }
    // std::popcount is a call where the compiler may not assume the instruction. Here all words are
    // counted byte by byte at once: no byte has more than 64.
    std::uint64_t count_common(const Line& other) const {
      std::uint64_t bytes = 0;
      for (std::size_t w = 0; w < 8; ++w) {
        std::uint64_t word = words[w] & other.words[w];
        word -= word >> 1 & 0x5555555555555555u;
        word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
        bytes += (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
      }
      constexpr std::uint64_t even = 0x00ff00ff00ff00ffu;
      return ((bytes & even) + (bytes >> 8 & even)) * 0x0001000100010001u >> 48;
    }
  };

  const Line& line(std::size_t row, int column) const {
    return bits_[row * lines_ + static_cast<std::size_t>(column) / 512];
  }
  Line& line(std::size_t row, int column) {
    return bits_[row * lines_ + static_cast<std::size_t>(column) / 512];
  }
  std::uint64_t& summary(std::size_t row, int column) {
    return summaries_[row * summary_ + static_cast<std::size_t>(column) / (512 * 64)];
  }

  // f(number, line, its line) of the lines in which both have bits
  template <class F>
  void for_each_line(std::size_t row, const BitRows& other, std::size_t its_row, F f) const {
    for (std::size_t s = 0; s < summary_; ++s)
      for (std::uint64_t both =
               summaries_[row * summary_ + s] & other.summaries_[its_row * summary_ + s];
           both; both &= both - 1) {
        const std::size_t k = s * 64 + static_cast<std::size_t>(std::countr_zero(both));
        f(k, bits_[row * lines_ + k], other.bits_[its_row * lines_ + k]);
      }
  }

  std::size_t lines_ = 0, summary_ = 0;
  std::vector<Line> bits_;
  std::vector<std::uint64_t> summaries_;
};

}  // namespace tonari
