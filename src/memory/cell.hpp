// SPDX-License-Identifier: BSD-3-Clause
// A place for one message in memory that two processes (or threads) share, and how they hand it to
// each other: one writer, one reader, no locks.
//
//      payload, in whole 8-byte words            mark
//   +--------+--------+-- ... --+--------+     +--------+
//   |        |        |         |  last  |     |        |
//   +--------+--------+-- ... --+--------+     +--------+
//
// Its size is rounded up to pairs of cache lines, which processors fetch together.
//
// With a canary (Hoefler and Schneider 2012, II-C3) data and completion are one write: while the
// cell is free its last word holds the canary; the writer stores the last word of the message after
// all others, and the reader sees the message complete as soon as that word has changed. A message
// whose last word happens to be the canary is announced by the mark instead. Without a canary the
// mark alone announces.
//
// The reader gives the cell back by putting the canary (or a clear mark) there again, so the writer
// needs no counter of what was read: it looks at the very line that it is about to write. Every
// hand-over is a release store that an acquire load sees: nothing depends on the order in which a
// processor commits its stores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/memory.hpp"

namespace tonari {

class Cell {
 public:
  using Word = std::uint64_t;
  static constexpr Word canary = 0xC4A1'92B7'5E3D'6F80;
  static constexpr std::size_t alignment = 2 * cache_line;

  // The size of a cell for messages of up to this many bytes.
  static constexpr std::size_t bytes_for(std::size_t payload) {
    return round_up(round_up(payload, sizeof(Word)) + sizeof(Word), alignment);
  }

  Cell() = default;
  // `at` is aligned to `alignment` and has bytes_for(payload) bytes. With a canary, payload must
  // not be 0. Both ends pass the same arguments.
  Cell(std::byte* at, std::size_t payload, bool with_canary)
      : at_(at),
        mark_(reinterpret_cast<Word*>(at + round_up(payload, sizeof(Word)))),
        last_(with_canary ? mark_ - 1 : nullptr) {}

  std::byte* payload() const { return at_; }

  // One side calls this before the first use, and before the other side knows of the cell: what
  // tells it of the cell orders these stores.
  void clear() const {
    if (last_) at(last_).store(canary, std::memory_order_relaxed);
    at(mark_).store(0, std::memory_order_relaxed);
  }

  // ---- the writer's functions
  bool free() const {
    return (!last_ || at(last_).load(std::memory_order_acquire) == canary) &&
           at(mark_).load(std::memory_order_acquire) == 0;
  }
  // Call this when the payload is written.
  void publish() const { at(mark_).store(1, std::memory_order_release); }
  // Call this when the payload is written except for its last word, `last`. Bytes in it that belong
  // to no message should differ from the canary's.
  void publish(Word last) const {
    if (last == canary)
      publish();
    else
      at(last_).store(last, std::memory_order_release);
  }

  // ---- the reader's functions
  bool full() const {
    return (last_ && at(last_).load(std::memory_order_acquire) != canary) ||
           at(mark_).load(std::memory_order_acquire) != 0;
  }
  // Call this when the payload was read. It is a single store, because after it the cell may
  // already hold the next message. Where the mark was set, the last word is the canary anyway.
  void release() const {
    if (at(mark_).load(std::memory_order_relaxed) != 0)
      at(mark_).store(0, std::memory_order_release);
    else
      at(last_).store(canary, std::memory_order_release);
  }

 private:
  static std::atomic_ref<Word> at(Word* word) { return std::atomic_ref<Word>(*word); }

  std::byte* at_ = nullptr;
  Word* mark_ = nullptr;
  Word* last_ = nullptr;  // null without a canary
};

static_assert(std::atomic_ref<Cell::Word>::is_always_lock_free,
              "words of shared memory are handed over without locks");

}  // namespace tonari
