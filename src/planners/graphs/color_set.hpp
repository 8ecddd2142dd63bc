// SPDX-License-Identifier: BSD-3-Clause
// A set of colors in few words: only the chunks of 32 colors that hold any, so that it grows with
// its size and not with the largest color (a leaf next to a hub of degree 100,000 may get color
// 99,999), and can be put into a message as it is.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

using Color = std::int32_t;
constexpr Color uncolored = -1;

class ColorSet {
 public:
  ColorSet() = default;
  explicit ColorSet(std::span<const Word> words) : chunks_(words.begin(), words.end()) {}
  std::span<const Word> words() const { return chunks_; }

  bool contains(Color c) const {
    const auto chunk = find(c);
    return chunk != chunks_.end() && index(*chunk) == c / 32 && (*chunk & bit(c));
  }
  void insert(Color c) {
    const auto chunk = find(c);
    if (chunk != chunks_.end() && index(*chunk) == c / 32)
      chunks_[chunk - chunks_.begin()] |= bit(c);
    else
      chunks_.insert(chunk, Word{c / 32} << 32 | bit(c));
  }
  void erase(Color c) {
    const auto chunk = chunks_.begin() + (find(c) - chunks_.cbegin());
    *chunk &= ~bit(c);
    if (mask(*chunk) == 0) chunks_.erase(chunk);
  }

  // The lowest color >= from that is not in the set.
  Color next_outside(Color from) const {
    std::uint32_t blocked = (std::uint32_t{1} << from % 32) - 1;
    Color chunk = from / 32;
    for (auto c = find(from);
         c != chunks_.end() && index(*c) == chunk && (blocked |= mask(*c)) == ~0u; ++c, ++chunk)
      blocked = 0;
    return 32 * chunk + std::countr_one(blocked);
  }

  // Its members, ascending, until f returns true; whether it did.
  template <class F>
  bool any(F f) const {
    for (Word chunk : chunks_)
      for (std::uint32_t left = mask(chunk); left != 0; left &= left - 1)
        if (f(32 * index(chunk) + std::countr_zero(left))) return true;
    return false;
  }

  // The lowest color that neither set has.
  static Color lowest_outside(const ColorSet& a, const ColorSet& b) {
    auto i = a.chunks_.begin(), j = b.chunks_.begin();
    for (Color chunk = 0;; ++chunk) {
      std::uint32_t blocked = 0;
      if (i != a.chunks_.end() && index(*i) == chunk) blocked |= mask(*i++);
      if (j != b.chunks_.end() && index(*j) == chunk) blocked |= mask(*j++);
      if (blocked != ~0u) return 32 * chunk + std::countr_one(blocked);
    }
  }

 private:
  // A word: the chunk's number above 32 bits of members; never without members. Ascending.
  static Color index(Word chunk) { return static_cast<Color>(chunk >> 32); }
  static std::uint32_t mask(Word chunk) { return static_cast<std::uint32_t>(chunk); }
  static Word bit(Color c) { return Word{1} << c % 32; }
  std::vector<Word>::const_iterator find(Color c) const {
    return std::lower_bound(chunks_.begin(), chunks_.end(), Word{c / 32} << 32);
  }

  std::vector<Word> chunks_;
};

}  // namespace tonari
