// SPDX-License-Identifier: BSD-3-Clause
// Messages of sparse exchanges, and how they travel together as words.
#pragma once

#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

struct SparseMessage {
  std::int32_t to;
  const std::byte* address;
  Bytes bytes;
};

// Short messages between this rank and a peer that travel together.
struct SparsePiece {
  std::int32_t peer;
  std::size_t begin, end;  // words
};

// Memory for more than twice `kept` bytes goes.
inline void clear(std::vector<Word>& words, Bytes kept) {
  words.clear();
  if (words.capacity() * sizeof(Word) > 2 * kept) words.shrink_to_fit();
}

inline std::size_t words_of(Bytes bytes) {
  return static_cast<std::size_t>((bytes + sizeof(Word) - 1) / sizeof(Word));
}

// A short message is its length and its bytes; of a long one only the length goes, negative.
class MessagePacking {
 public:
  explicit MessagePacking(Bytes short_most) : short_most_(short_most) {}
  bool is_short(Bytes bytes) const { return bytes <= short_most_; }
  std::size_t words(const SparseMessage& message) const {
    return 1 + (is_short(message.bytes) ? words_of(message.bytes) : 0);
  }
  Word* pack(const SparseMessage& message, Word* to) const {  // returns the end
    const auto length = static_cast<Word>(message.bytes);
    *to++ = is_short(message.bytes) ? length : -length;
    if (!is_short(message.bytes) || message.bytes == 0) return to;
    Word* const end = to + words_of(message.bytes);
    end[-1] = 0;
    std::memcpy(to, message.address, message.bytes);
    return end;
  }
  // visit(bytes, address) for each; the address is null for a long one.
  template <class Visit>
  static void read(std::span<const Word> words, Visit visit) {
    while (!words.empty()) {
      const Word length = words[0];
      const auto bytes = static_cast<Bytes>(std::abs(length));
      words = words.subspan(1);
      visit(bytes, length < 0 ? nullptr : reinterpret_cast<const std::byte*>(words.data()));
      if (length >= 0) words = words.subspan(words_of(bytes));
    }
  }

 private:
  Bytes short_most_;
};

}  // namespace tonari
