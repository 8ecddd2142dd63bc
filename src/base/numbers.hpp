// SPDX-License-Identifier: BSD-3-Clause
// Lists of whole numbers that programs pass, as they have them: of 32 bits (int), or of 64
// (MPI_Count, MPI_Aint). They are read as 64 bits, and not copied.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tonari {

template <class Integer>
concept Number = std::signed_integral<Integer> && (sizeof(Integer) == sizeof(std::int32_t) ||
                                                   sizeof(Integer) == sizeof(std::int64_t));

class Numbers {
 public:
  Numbers() = default;
  Numbers(std::nullptr_t) {}
  template <Number Integer>
  Numbers(const Integer* list) : list_(list), width_(sizeof(Integer)) {}

  explicit operator bool() const { return list_ != nullptr; }
  std::int64_t operator[](std::size_t k) const {
    return width_ == sizeof(std::int32_t) ? at<std::int32_t>(k) : at<std::int64_t>(k);
  }
  const void* address() const { return list_; }
  // The list from number `first` on.
  Numbers from(std::size_t first) const {
    return {static_cast<const std::byte*>(list_) + first * width_, width_};
  }
  std::vector<std::int64_t> copy(std::size_t count) const {
    std::vector<std::int64_t> all(count);
    for (std::size_t k = 0; k < count; ++k) all[k] = (*this)[k];
    return all;
  }

 private:
  friend class NumberCopy;
  Numbers(const void* list, std::size_t width) : list_(list), width_(width) {}

  // long and long long are two types, even if both have 64 bits.
  template <class Integer>
  Integer at(std::size_t k) const {
    Integer number;
    std::memcpy(&number, static_cast<const std::byte*>(list_) + k * sizeof number, sizeof number);
    return number;
  }

  const void* list_ = nullptr;
  std::size_t width_ = sizeof(std::int32_t);
};

// A copy of such a list, to compare others with.
class NumberCopy {
 public:
  NumberCopy() = default;
  NumberCopy(Numbers list, std::size_t count)
      : bytes_(static_cast<const std::byte*>(list.list_),
               static_cast<const std::byte*>(list.list_) + count * list.width_),
        width_(list.width_) {}

  // Whether `list` begins with these numbers, in the same width.
  bool same(Numbers list) const {
    return bytes_.empty() || (list.list_ && list.width_ == width_ &&
                              std::memcmp(bytes_.data(), list.list_, bytes_.size()) == 0);
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t width_ = 0;
};

}  // namespace tonari
