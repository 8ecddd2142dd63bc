// SPDX-License-Identifier: BSD-3-Clause
// What one process tells all others that share memory with it: one writer, any number of readers,
// no locks, and nothing that readers give back.
//
//     mark   payload              mark   payload
//   +------+---- ... ----------++------+---- ... ----------++
//   |      |                   ||      |                   ||    two slots in turn
//   +------+---- ... ----------++------+---- ... ----------++
//
// A mark is the number of the exchange whose payload follows; the store of the mark hands it over
// to all readers at once. Two slots suffice where every reader also writes, and each waits for all:
// who has completed exchange n knows that all have begun it, and so have read what came in n - 1.
// So in exchange n + 1 it may write where n - 1 lay, and may read n until then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/memory.hpp"

namespace tonari {

class BroadcastSlots {
 public:
  using Mark = std::uint64_t;
  static constexpr std::size_t alignment = 2 * cache_line;

  // Memory for payloads of up to this many bytes.
  static constexpr std::size_t bytes_for(std::size_t payload) { return 2 * stride_for(payload); }

  BroadcastSlots() = default;
  // at: aligned to `alignment`, bytes_for(payload) bytes of zeros.
  BroadcastSlots(std::byte* at, std::size_t payload) : at_(at), stride_(stride_for(payload)) {}

  // Where the payload of an exchange lies, aligned to 8 bytes. Numbers begin with 1.
  std::byte* payload(Mark number) const { return slot(number) + sizeof(Mark); }
  void publish(Mark number) const { mark(number).store(number, std::memory_order_release); }
  // Whether a reader may read payload(number).
  bool arrived(Mark number) const { return mark(number).load(std::memory_order_acquire) == number; }
  explicit operator bool() const { return at_ != nullptr; }

 private:
  static constexpr std::size_t stride_for(std::size_t payload) {
    return round_up(sizeof(Mark) + payload, alignment);
  }
  std::byte* slot(Mark number) const { return at_ + number % 2 * stride_; }
  std::atomic_ref<Mark> mark(Mark number) const {
    return std::atomic_ref<Mark>(*reinterpret_cast<Mark*>(slot(number)));
  }

  std::byte* at_ = nullptr;
  std::size_t stride_ = 0;
};

static_assert(std::atomic_ref<BroadcastSlots::Mark>::is_always_lock_free,
              "words of shared memory are handed over without locks");

}  // namespace tonari
