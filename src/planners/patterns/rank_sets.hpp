// SPDX-License-Identifier: BSD-3-Clause
// Many sets of ranks, of which two are intersected again and again: bits where there are few ranks,
// else sorted lists, so that memory is that of what is in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace tonari {

class RankSets {
 public:
  explicit RankSets(int ranks)
      : words_(ranks <= most_bits ? (static_cast<std::size_t>(ranks) + 63) / 64 : 0) {
    if (words_)
      bits_.assign(static_cast<std::size_t>(ranks) * words_, 0);
    else
      lists_.resize(static_cast<std::size_t>(ranks));
  }

  bool contains(int set, int rank) const {
    return words_ ? (row(set)[rank / 64] >> rank % 64 & 1) != 0
                  : std::binary_search(lists_[set].begin(), lists_[set].end(), rank);
  }
  void insert(int set, int rank) {
    if (words_)
      row(set)[rank / 64] |= std::uint64_t{1} << rank % 64;
    else if (const auto at = std::lower_bound(lists_[set].begin(), lists_[set].end(), rank);
             at == lists_[set].end() || *at != rank)
      lists_[set].insert(at, rank);
  }
  void erase(int set, int rank) {
    if (words_)
      row(set)[rank / 64] &= ~(std::uint64_t{1} << rank % 64);
    else if (const auto at = std::lower_bound(lists_[set].begin(), lists_[set].end(), rank);
             at != lists_[set].end() && *at == rank)
      lists_[set].erase(at);
  }

  // f(rank), ascending, of those in both; with the same set twice of all in it.
  template <class F>
  void for_each_common(int set, const RankSets& other, int its_set, F f) const {
    if (!words_) return meet(lists_[set], other.lists_[its_set], f);
    const std::uint64_t *a = row(set), *b = other.row(its_set);
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t word = a[w] & b[w]; word; word &= word - 1)
        f(static_cast<int>(w * 64) + std::countr_zero(word));
  }
  int count_common(int set, const RankSets& other, int its_set) const {
    int count = 0;
    if (!words_) {
      meet(lists_[set], other.lists_[its_set], [&](int) { ++count; });
      return count;
    }
    const std::uint64_t *a = row(set), *b = other.row(its_set);
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w < words_; ++w) sum += bits(a[w] & b[w]);
    return static_cast<int>(sum);
  }

  // One of many sets is counted against many others: in lists, what is marked need not be searched
  // for.
  class Marked {
   public:
    explicit Marked(int ranks) : marks_(static_cast<std::size_t>(ranks)) {}

    void choose(const RankSets& sets, int set) {
      sets_ = &sets, set_ = set;
      for (std::int32_t rank : list_) marks_[static_cast<std::size_t>(rank)] = 0;
      list_.clear();
      if (!sets.words_) list_ = sets.lists_[set];
      for (std::int32_t rank : list_) marks_[static_cast<std::size_t>(rank)] = 1;
    }
    // As the chosen set was.
    int count_common(const RankSets& other, int its_set) const {
      if (sets_->words_) return sets_->count_common(set_, other, its_set);
      const std::vector<std::int32_t>& others = other.lists_[its_set];
      int count = 0;
      if (16 * list_.size() < others.size())
        meet(list_, others, [&](int) { ++count; });
      else
        for (std::int32_t rank : others) count += marks_[static_cast<std::size_t>(rank)];
      return count;
    }

   private:
    const RankSets* sets_ = nullptr;
    int set_ = 0;
    std::vector<std::int32_t> list_;
    std::vector<char> marks_;  // by rank
  };

 private:
  static constexpr int most_bits = 2048;
  const std::uint64_t* row(int set) const {
    return bits_.data() + words_ * static_cast<std::size_t>(set);
  }
  std::uint64_t* row(int set) { return bits_.data() + words_ * static_cast<std::size_t>(set); }

  // std::popcount is a call where the compiler may not assume the instruction.
  static std::uint64_t bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
  }

  template <class F>
  static void meet(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b, F f) {
    if (a.size() > b.size()) return meet(b, a, f);
    auto at = b.begin();
    if (16 * a.size() < b.size()) {
      for (std::int32_t rank : a)
        if (at = std::lower_bound(at, b.end(), rank); at == b.end())
          return;
        else if (*at == rank)
          f(rank);
      return;
    }
    for (auto i = a.begin(); i != a.end() && at != b.end();) {
      const std::int32_t x = *i, y = *at;
      if (x == y) f(x);
      i += x <= y;
      at += y <= x;
    }
  }

  std::size_t words_;  // 0: lists
  std::vector<std::uint64_t> bits_;
  std::vector<std::vector<std::int32_t>> lists_;
};

}  // namespace tonari
