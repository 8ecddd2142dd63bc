// SPDX-License-Identifier: BSD-3-Clause
// A 64-bit hash that is the same on every rank and every run (unlike std::hash): FNV-1a over words,
// with a final mix.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace tonari {

class Hash {
 public:
  Hash& word(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x100000001b3ull;
    state_ = std::rotl(state_, 29);
    return *this;
  }
  Hash& bytes(std::string_view values) {
    for (unsigned char c : values) word(c);
    return word(values.size());
  }
  std::uint64_t value() const {  // splitmix64's finalizer
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

}  // namespace tonari
