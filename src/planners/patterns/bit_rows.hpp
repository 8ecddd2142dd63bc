// SPDX-License-Identifier: BSD-3-Clause
// Many sets of ranks as rows of bits, thin ones cheap: a word of the summary says which 64 words of
// the row have any bit.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tonari {

class BitRows {
 public:
  BitRows() = default;
  BitRows(std::size_t rows, int columns)
      : words_((static_cast<std::size_t>(columns) + 63) / 64),
        summary_((words_ + 63) / 64),
        bits_(rows * words_, 0),
        summaries_(rows * summary_, 0) {}

  bool test(std::size_t row, int column) const {
    return bits_[row * words_ + column / 64] >> column % 64 & 1;
  }
  void set(std::size_t row, int column) {
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << column % 64;
    summaries_[row * summary_ + column / 4096] |= std::uint64_t{1} << column / 64 % 64;
  }
  void clear(std::size_t row, int column) {
    std::uint64_t& word = bits_[row * words_ + column / 64];
    word &= ~(std::uint64_t{1} << column % 64);
    if (word == 0)
      summaries_[row * summary_ + column / 4096] &= ~(std::uint64_t{1} << column / 64 % 64);
  }
  void clear_row(std::size_t row) {
    for_each_word(row, *this, row,
                  [&](std::size_t w, std::uint64_t) { bits_[row * words_ + w] = 0; });
    for (std::size_t s = 0; s < summary_; ++s) summaries_[row * summary_ + s] = 0;
  }
  void unite(std::size_t row, const BitRows& with, std::size_t its_row) {
    with.for_each_word(its_row, with, its_row,
                       [&](std::size_t w, std::uint64_t word) { bits_[row * words_ + w] |= word; });
    for (std::size_t s = 0; s < summary_; ++s)
      summaries_[row * summary_ + s] |= with.summaries_[its_row * summary_ + s];
  }

  // f(column), ascending, of the bits that both rows have; the same row twice: of that row.
  template <class F>
  void for_each_common(std::size_t row, const BitRows& other, std::size_t its_row, F f) const {
    for_each_word(row, other, its_row, [&](std::size_t w, std::uint64_t word) {
      for (; word; word &= word - 1) f(static_cast<int>(w * 64) + std::countr_zero(word));
    });
  }
  int count_common(std::size_t row, const BitRows& other, std::size_t its_row) const {
    int count = 0;
    for_each_word(row, other, its_row,
                  [&](std::size_t, std::uint64_t word) { count += std::popcount(word); });
    return count;
  }

 private:
  template <class F>
  void for_each_word(std::size_t row, const BitRows& other, std::size_t its_row, F f) const {
    for (std::size_t s = 0; s < summary_; ++s)
      for (std::uint64_t both =
               summaries_[row * summary_ + s] & other.summaries_[its_row * summary_ + s];
           both; both &= both - 1) {
        const std::size_t w = s * 64 + static_cast<std::size_t>(std::countr_zero(both));
        if (const std::uint64_t word = bits_[row * words_ + w] & other.bits_[its_row * words_ + w])
          f(w, word);
      }
  }

  std::size_t words_ = 0, summary_ = 0;
  std::vector<std::uint64_t> bits_, summaries_;
};

}  // namespace tonari
