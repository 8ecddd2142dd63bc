// SPDX-License-Identifier: BSD-3-Clause
// Memory that a request holds while it lives: aligned to cache lines, not initialized.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace tonari {

inline constexpr std::size_t cache_line = 64;
constexpr std::size_t round_up(std::size_t bytes, std::size_t unit = cache_line) {
  return (bytes + unit - 1) / unit * unit;
}

class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(cache_line, round_up(bytes))));
    if (!data_) throw std::bad_alloc();
  }
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }
  // Never gives it back: somebody may still read or write it. Needs no memory itself.
  void leak() noexcept {
    (void)data_.release();
    bytes_ = 0;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace tonari
