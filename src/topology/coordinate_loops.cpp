// SPDX-License-Identifier: BSD-3-Clause
#include "topology/coordinate_loops.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "base/hash.hpp"

namespace tonari {
namespace {

// ---- narrow

// Returns what has a bit above the lowest eight if some coordinate does not fit.
inline std::uint32_t narrow_some(const int* from, std::size_t count, std::int8_t* to) {
  std::uint32_t beyond = 0;
  for (std::size_t i = 0; i < count; ++i) {
    beyond |= static_cast<std::uint32_t>(from[i]) + 128u;
    to[i] = static_cast<std::int8_t>(from[i]);
  }
  return beyond;
}

// By a loop of known length, which compilers make vectors of.
bool narrow_plain(const int* __restrict from, std::size_t count, std::int8_t* __restrict to) {
  constexpr std::size_t step = 64;
  std::uint32_t beyond = 0;
  for (; count >= step; count -= step, from += step, to += step)
    beyond |= narrow_some(from, step, to);
  return (beyond | narrow_some(from, count, to)) < 256;
}

// ---- hash

// Words go in turn to as many sums, which proceed side by side. For each word its sum is multiplied
// by 2^-32 modulo multiplier * 2^32 - 1, which reaches all of its bits. It takes no more than
// one product of 32 bits, as in generators of random numbers that multiply with carry.
constexpr std::size_t lanes = 32, word_bytes = sizeof(std::uint64_t);
constexpr std::size_t block_bytes = lanes * word_bytes;
constexpr std::uint64_t multiplier = 0x9e3779b1;
using Sums = std::array<std::uint64_t, lanes>;

constexpr Sums first_sums = [] {
  Sums sums{};
  for (std::size_t i = 0; i < lanes; ++i) sums[i] = (i + 1) * 0x9e3779b97f4a7c15;
  return sums;
}();

std::uint64_t word_at(const char* from, std::size_t length = word_bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, length);
  return value;
}

void add_blocks(const char* at, std::size_t blocks, Sums& sums) {
  for (; blocks > 0; --blocks, at += block_bytes)
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t sum = sums[i] ^ word_at(at + i * word_bytes);
      sums[i] = (sum & 0xffffffff) * multiplier + (sum >> 32);
    }
}

// One after the other.
std::uint64_t hash_of_few(std::string_view bytes) {
  Hash all;
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes)
    all.word(word_at(bytes.data() + at, std::min(word_bytes, bytes.size() - at)));
  return all.value();
}

// By `add`; the last block is filled up with zeros.
template <class Add>
std::uint64_t hash_of_many(std::string_view bytes, Add add) {
  const std::size_t blocks = bytes.size() / block_bytes;
  std::array<char, block_bytes> last{};
  bytes.substr(blocks * block_bytes).copy(last.data(), block_bytes);
  Sums sums = first_sums;
  add(bytes.data(), blocks, sums);
  add(last.data(), 1, sums);
  std::array<Hash, 4> parts;
  for (std::size_t i = 0; i < lanes; ++i) parts[i % parts.size()].word(sums[i]);
  Hash all;
  for (const Hash& part : parts) all.word(part.value());
  return all.value();
}

template <class Add>
std::uint64_t hash_by(std::string_view bytes, Add add) {
  return Hash()
      .word(bytes.size())
      .word(bytes.size() < block_bytes ? hash_of_few(bytes) : hash_of_many(bytes, add))
      .value();
}

std::uint64_t hash_plain(std::string_view bytes) { return hash_by(bytes, add_blocks); }

// ---- both with AVX2

#if defined(__x86_64__)
#define TONARI_WIDE __attribute__((target("avx2")))

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

TONARI_WIDE inline __m256i load_wide(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
TONARI_WIDE inline void store_wide(void* to, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}

// The instructions pack with saturation, each half of a register by itself. What does not fit into
// a byte does not fit when it is saturated to two, either.
TONARI_WIDE bool narrow_wide(const int* from, std::size_t count, std::int8_t* to) {
  constexpr std::size_t step = 32, ahead = 128;  // coordinates that will soon be needed
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), half = _mm256_set1_epi16(128);
  __m256i beyond = _mm256_setzero_si256();
  for (; count >= step; count -= step, from += step, to += step) {
    _mm_prefetch(reinterpret_cast<const char*>(from + ahead), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(from + ahead + step / 2), _MM_HINT_T0);
    const __m256i low = _mm256_packs_epi32(load_wide(from), load_wide(from + 8)),
                  high = _mm256_packs_epi32(load_wide(from + 16), load_wide(from + 24));
    beyond = _mm256_or_si256(
        beyond, _mm256_or_si256(_mm256_add_epi16(low, half), _mm256_add_epi16(high, half)));
    store_wide(to, _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
  }
  const bool rest_fits = narrow_plain(from, count, to);
  return rest_fits && _mm256_testz_si256(beyond, _mm256_set1_epi16(-256));
}

TONARI_WIDE inline __m256i next_sums(__m256i sum, const void* words) {
  sum = _mm256_xor_si256(sum, load_wide(words));
  return _mm256_add_epi64(
      _mm256_mul_epu32(sum, _mm256_set1_epi64x(static_cast<long long>(multiplier))),
      _mm256_srli_epi64(sum, 32));
}

TONARI_WIDE void add_blocks_wide(const char* at, std::size_t blocks, Sums& sums) {
  constexpr std::size_t registers = 8, lanes_of_one = lanes / registers;
  __m256i in[registers];
#pragma GCC unroll 8
  for (std::size_t k = 0; k < registers; ++k) in[k] = load_wide(&sums[k * lanes_of_one]);
  for (; blocks > 0; --blocks, at += block_bytes)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < registers; ++k) in[k] = next_sums(in[k], at + k * sizeof in[k]);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < registers; ++k) store_wide(&sums[k * lanes_of_one], in[k]);
}

std::uint64_t hash_wide(std::string_view bytes) { return hash_by(bytes, add_blocks_wide); }

#endif

}  // namespace

const CoordinateLoops& plain_loops() {
  static constexpr CoordinateLoops loops{narrow_plain, hash_plain};
  return loops;
}

const CoordinateLoops* wide_loops() {
#if defined(__x86_64__)
  static constexpr CoordinateLoops loops{narrow_wide, hash_wide};
  static const bool there = has_avx2();
  if (there) return &loops;
#endif
  return nullptr;
}

const CoordinateLoops& coordinate_loops() {
  const CoordinateLoops* const wide = wide_loops();
  return wide ? *wide : plain_loops();
}

}  // namespace tonari
