// SPDX-License-Identifier: BSD-3-Clause
// A ring of frames in memory that two processes (or threads) share, for messages of any size: one
// writer, one reader, no locks.
//
//     mark   payload              mark   payload
//   +------+---- ... ----------++------+---- ... ----------++--    as many frames as go round
//   |      |                   ||      |                   ||
//   +------+---- ... ----------++------+---- ... ----------++--
//
// A mark of 0 says that the frame is free. The writer fills the payload and stores the number of
// its bytes and one; that store hands the frame over. The reader stores 0 and so gives it back.
// Each hand-over is a release store that an acquire load of the other side sees, and between two of
// them one side alone touches the frame. The mark lies in front of the payload: a short message
// and what announces it share their cache lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/memory.hpp"

namespace tonari {

// One end: the writer's or the reader's. Both go through the frames in the same order.
class MessageRing {
 public:
  using Mark = std::uint64_t;
  static constexpr std::uint32_t frames = 4;
  static constexpr std::size_t alignment = 2 * cache_line;

  static constexpr std::size_t frame_bytes(std::size_t payload) {
    return round_up(sizeof(Mark) + payload, alignment);
  }
  // Memory for frames whose payloads have up to this many bytes.
  static constexpr std::size_t bytes_for(std::size_t payload) {
    return frames * frame_bytes(payload);
  }

  MessageRing() = default;
  // at: aligned to `alignment`, bytes_for(payload) bytes of zeros.
  MessageRing(std::byte* at, std::size_t payload) : at_(at), stride_(frame_bytes(payload)) {}

  // ---- the writer
  // Where the next payload goes; null: its frame is not free yet.
  std::byte* place() const {
    return mark(next_).load(std::memory_order_acquire) ? nullptr : here();
  }
  void publish(std::size_t bytes) {
    mark(next_).store(bytes + 1, std::memory_order_release);
    step();
  }
  // Whether the reader has given back the frame that was published last.
  bool taken() const {
    const std::uint32_t last = (next_ + frames - 1) % frames;
    return mark(last).load(std::memory_order_acquire) == 0;
  }

  // ---- the reader
  // The next payload, once it is there; else null.
  const std::byte* arrived() const {
    return mark(next_).load(std::memory_order_acquire) ? here() : nullptr;
  }
  // Of what has arrived.
  std::size_t bytes() const { return mark(next_).load(std::memory_order_relaxed) - 1; }
  void release() {
    mark(next_).store(0, std::memory_order_release);
    step();
  }

 private:
  std::atomic_ref<Mark> mark(std::uint32_t frame) const {
    return std::atomic_ref<Mark>(*reinterpret_cast<Mark*>(at_ + frame * stride_));
  }
  std::byte* here() const { return at_ + next_ * stride_ + sizeof(Mark); }
  void step() { next_ = (next_ + 1) % frames; }

  std::byte* at_ = nullptr;
  std::size_t stride_ = 0;
  std::uint32_t next_ = 0;
};

static_assert(std::atomic_ref<MessageRing::Mark>::is_always_lock_free,
              "words of shared memory are handed over without locks");

}  // namespace tonari
