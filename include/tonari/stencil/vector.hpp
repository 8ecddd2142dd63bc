// SPDX-License-Identifier: BSD-3-Clause
// Vectors of cells, and the few operations that stencils need of them.
//
// They are the vector extensions of GCC and Clang, which know every vector unit, need no flag and
// no library, and can join two rows at a fixed distance (__builtin_shufflevector: one instruction
// on most machines). std::experimental::simd can not do that, and Clang's library does not bring
// it.
//
// Bits. Every storage computes a cell by the same additions in the same order (sums.hpp), so
// results agree bit for bit, however a row is cut into vectors. The one thing that a compiler may
// decide itself is which product it contracts with an addition (-ffp-contract=fast is GCC's
// default). fused() and product() leave no choice. In a chain
//
//   product(c0, s0), fused(c1, s1, ..), fused(c2, s2, ..)
//
// only the products within fused() can be contracted, and each of them always is, or never.
// So results are equal between all storages in programs compiled with the same flags; with
// -ffp-contract=off also between machines. All files of a program that apply stencils must be
// compiled for the same machine (-march), as for every header with inline functions.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#define TONARI_INLINE __attribute__((always_inline)) inline
#define TONARI_INLINED __attribute__((always_inline))  // of a lambda

namespace tonari {
inline namespace api0 {
namespace detail {

// Dimensions and extents are ints, and sizes of arrays are not.
template <class T, int N>
using Array = std::array<T, static_cast<std::size_t>(N)>;

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;  // SSE2, NEON, AltiVec
#endif

template <class T, int Lanes>
struct VectorOf {
  static_assert(Lanes > 0 && (Lanes & (Lanes - 1)) == 0);
  typedef T type __attribute__((vector_size(static_cast<std::size_t>(Lanes) * sizeof(T))));
};
template <class T, int Lanes>
using Vector = typename VectorOf<T, Lanes>::type;

template <class T>
inline constexpr int native_lanes = vector_bytes / static_cast<int>(sizeof(T));

// The widest vectors of which a row of a brick is made.
template <class T>
constexpr int lanes_of_row(int extent) {
  int lanes = 1;
  while (lanes < native_lanes<T> && extent % (2 * lanes) == 0) lanes *= 2;
  return lanes;
}

template <class T, int Lanes>
TONARI_INLINE Vector<T, Lanes> load(const T* from) {
  Vector<T, Lanes> vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class T, int Lanes>
TONARI_INLINE void store(T* to, const Vector<T, Lanes>& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

// Lanes first to end - 1 only. They are few, or cells at a border: not worth masks.
template <class T, int Lanes>
TONARI_INLINE void store_some(T* to, const Vector<T, Lanes>& vector, int first, int end) {
  for (int lane = first; lane < end; ++lane) to[lane] = vector[lane];
}

template <class T, int Lanes>
TONARI_INLINE Vector<T, Lanes> load_some(const T* from, int count) {
  Vector<T, Lanes> vector{};
  for (int lane = 0; lane < count; ++lane) vector[lane] = from[lane];
  return vector;
}

// Lanes skip to skip + Lanes - 1 of the two vectors one after the other.
template <class T, int Lanes, int Skip, int... Lane>
TONARI_INLINE Vector<T, Lanes> joined(const Vector<T, Lanes>& low, const Vector<T, Lanes>& high,
                                      std::integer_sequence<int, Lane...>) {
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(low, high, (Lane + Skip)...);
#else  // GCC before 12
  using Index = decltype(low < high);
  return __builtin_shuffle(low, high, Index{(Lane + Skip)...});
#endif
}
template <class T, int Lanes, int Skip>
TONARI_INLINE Vector<T, Lanes> joined(const Vector<T, Lanes>& low, const Vector<T, Lanes>& high) {
  return joined<T, Lanes, Skip>(low, high, std::make_integer_sequence<int, Lanes>{});
}

// factor * vector, rounded: never contracted with what is done with it.
template <class T, class V>
TONARI_INLINE V product(T factor, const V& vector) {
#if defined(__has_builtin) && __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(factor * vector);
#else
  return factor * vector;  // Clang contracts within one expression only
#endif
}

// factor * vector + sum, contracted where the machine can and the flags allow it.
template <class T, class V>
TONARI_INLINE V fused(T factor, const V& vector, const V& sum) {
  return factor * vector + sum;
}

// f(0), f(1), .. f(N - 1), each with its number as a type, so that it can be a template argument.
template <int N, class F>
TONARI_INLINE constexpr void unrolled(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) TONARI_INLINED {
    (f(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

constexpr int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

constexpr int power(int base, int exponent) {
  int result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

}  // namespace detail
}  // namespace api0
}  // namespace tonari
