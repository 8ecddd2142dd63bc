// SPDX-License-Identifier: BSD-3-Clause
#include "topology/packed_offsets.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {
namespace {

// So many coordinates are packed in loops of known length, which compilers make vectors of.
constexpr std::size_t at_once = 64;

// Returns what has a bit beyond the lowest eight if some coordinate does not fit into a byte.
__attribute__((always_inline)) inline std::uint32_t pack(const int* __restrict from,
                                                         std::size_t count,
                                                         std::int8_t* __restrict to) {
  std::uint32_t beyond = 0;
  for (; count >= at_once && beyond < 256; count -= at_once, from += at_once, to += at_once)
    for (std::size_t i = 0; i < at_once; ++i) {
      beyond |= static_cast<std::uint32_t>(from[i]) + 128u;
      to[i] = static_cast<std::int8_t>(from[i]);
    }
  for (std::size_t i = 0; i < std::min(count, at_once); ++i) {
    beyond |= static_cast<std::uint32_t>(from[i]) + 128u;
    to[i] = static_cast<std::int8_t>(from[i]);
  }
  return beyond;
}

#if defined(__x86_64__)
// Asked of the processor itself: what compilers have for it (__builtin_cpu_supports) cannot be
// linked into a shared library by all of them.
bool has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kept_by_the_system = 1u << 27, avx2 = 1u << 5, wide_registers = 6;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kept_by_the_system)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & avx2)) return false;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (a & wide_registers) == wide_registers;
}

__attribute__((target("avx2"))) std::uint32_t pack_wide(const int* from, std::size_t count,
                                                        std::int8_t* to) {
  return pack(from, count, to);
}
#endif

bool fits(const int* from, std::size_t count, std::int8_t* to) {
#if defined(__x86_64__)
  static const bool wide = has_avx2();
  if (wide) return pack_wide(from, count, to) < 256;
#endif
  return pack(from, count, to) < 256;
}

void check_range(std::span<const int> coordinates) {
  for (int c : coordinates)
    if (c > PackedOffsets::most || c < -PackedOffsets::most)
      fail(Errc::overflow, "the offset ", c, " is out of range; offsets go up to 1,000,000,000");
}

// Lanes of words, so that multiplications proceed side by side.
std::uint64_t hash_of(const void* data, std::size_t bytes) {
  constexpr std::size_t lanes = 8, word = sizeof(std::uint64_t);
  const char* at = static_cast<const char*>(data);
  std::array<Hash, lanes> hashes;
  const auto read = [](const char* from, std::size_t length) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, length);
    return value;
  };
  std::size_t left = bytes;
  for (; left >= lanes * word; left -= lanes * word, at += lanes * word)
#pragma GCC unroll 8
    for (std::size_t i = 0; i < lanes; ++i) hashes[i].word(read(at + i * word, word));
  Hash all;
  for (; left > 0; left -= std::min(left, word), at += word)
    all.word(read(at, std::min(left, word)));
  for (const Hash& hash : hashes) all.word(hash.value());
  return all.word(bytes).value();
}

template <class Number>
std::vector<Vec> unpacked(const Number* from, std::size_t count, int dimensions) {
  std::vector<Vec> list(count);
  for (Vec& offset : list) {
    std::copy_n(from, dimensions, offset.begin());
    from += dimensions;
  }
  return list;
}

}  // namespace

PackedOffsets::PackedOffsets(std::span<const int> coordinates, int dimensions)
    : count_(coordinates.size() / static_cast<std::size_t>(dimensions)),
      dimensions_(dimensions),
      bytes_(new std::int8_t[coordinates.size()]) {
  if (fits(coordinates.data(), coordinates.size(), bytes_.get())) return;
  bytes_.reset();
  check_range(coordinates);
  words_.reset(new std::int32_t[coordinates.size()]);
  std::ranges::copy(coordinates, words_.get());
}

std::vector<Vec> PackedOffsets::list() const {
  return words_ ? unpacked(words_.get(), count_, dimensions_)
                : unpacked(bytes_.get(), count_, dimensions_);
}

std::uint64_t PackedOffsets::fingerprint() const {
  Hash hash;
  hash.word(static_cast<std::uint64_t>(dimensions_)).word(count_);
  return hash
      .word(words_ ? hash_of(words_.get(), coordinates() * sizeof(std::int32_t))
                   : hash_of(bytes_.get(), coordinates()))
      .value();
}

std::uint64_t PackedNeighborhood::fingerprint() const {
  Hash hash;
  hash.word(grid.dimensions());
  for (int j = 0; j < grid.dimensions(); ++j) hash.word(grid.size(j)).word(grid.periodic(j));
  return hash.word(offsets.fingerprint()).value();
}

}  // namespace tonari
