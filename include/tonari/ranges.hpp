// SPDX-License-Identifier: BSD-3-Clause
// The ranges that the C++ interface takes: as buffers any contiguous range of numbers, const or not
// (std::vector, std::array, std::span, arrays of C, std::mdspan), and as counts and places any
// contiguous range of int or of MPI_Count.
//
// A buffer must outlive the request that is made with it. So temporaries are taken only where they
// own nothing, as spans do. Elements may be std::array of numbers: they count as one element.
#pragma once

#if __cplusplus <= 201703L
#error "tonari's C++ headers need C++20: compile with -std=c++20, or use the C headers (tonari.h)"
#endif

#include <tonari/tonari.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace tonari {
inline namespace api0 {  // the names link apart from anything else of namespace tonari

// The MPI datatype of T, for the typed forms. Specialize it for further types: `template <> inline
// MPI_Datatype tonari::mpi_type<Cell>() {...}`. std::int32_t and its like are names of these.
template <class T>
MPI_Datatype mpi_type() = delete;
template <>
inline MPI_Datatype mpi_type<float>() {
  return MPI_FLOAT;
}
template <>
inline MPI_Datatype mpi_type<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype mpi_type<long double>() {
  return MPI_LONG_DOUBLE;
}
template <>
inline MPI_Datatype mpi_type<std::complex<float>>() {
  return MPI_C_FLOAT_COMPLEX;
}
template <>
inline MPI_Datatype mpi_type<std::complex<double>>() {
  return MPI_C_DOUBLE_COMPLEX;
}
template <>
inline MPI_Datatype mpi_type<std::complex<long double>>() {
  return MPI_C_LONG_DOUBLE_COMPLEX;
}
template <>
inline MPI_Datatype mpi_type<char>() {
  return MPI_CHAR;
}
template <>
inline MPI_Datatype mpi_type<std::byte>() {
  return MPI_BYTE;
}
template <>
inline MPI_Datatype mpi_type<signed char>() {
  return MPI_SIGNED_CHAR;
}
template <>
inline MPI_Datatype mpi_type<unsigned char>() {
  return MPI_UNSIGNED_CHAR;
}
template <>
inline MPI_Datatype mpi_type<short>() {
  return MPI_SHORT;
}
template <>
inline MPI_Datatype mpi_type<unsigned short>() {
  return MPI_UNSIGNED_SHORT;
}
template <>
inline MPI_Datatype mpi_type<int>() {
  return MPI_INT;
}
template <>
inline MPI_Datatype mpi_type<unsigned>() {
  return MPI_UNSIGNED;
}
template <>
inline MPI_Datatype mpi_type<long>() {
  return MPI_LONG;
}
template <>
inline MPI_Datatype mpi_type<unsigned long>() {
  return MPI_UNSIGNED_LONG;
}
template <>
inline MPI_Datatype mpi_type<long long>() {
  return MPI_LONG_LONG;
}
template <>
inline MPI_Datatype mpi_type<unsigned long long>() {
  return MPI_UNSIGNED_LONG_LONG;
}

namespace detail {

template <class T>
concept HasMpiType = requires {
  { mpi_type<T>() } -> std::same_as<MPI_Datatype>;
};

// What elements consist of: numbers themselves, or std::array of them, also of such arrays.
template <class T>
struct ElementOf {
  using Number = T;
  static constexpr std::size_t numbers = 1;
};
template <class T, std::size_t n>
struct ElementOf<std::array<T, n>> {
  using Number = typename ElementOf<T>::Number;
  static constexpr std::size_t numbers = n * ElementOf<T>::numbers;
};

// std::mdspan, and what is like it.
template <class M>
concept MultiDimensional = requires(const M& m) {
  { m.is_exhaustive() } -> std::convertible_to<bool>;
  { m.mapping().required_span_size() } -> std::convertible_to<std::size_t>;
  { m.data_handle() } -> std::convertible_to<const void*>;
};
template <class R>
concept OneDimensional = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                         std::ranges::borrowed_range<R>;

// No size: calls refuse it on all ranks.
inline constexpr std::size_t no_size = std::numeric_limits<std::size_t>::max();

// T is const where the range is.
template <class T>
struct Elements {
  T* data;
  std::size_t size;

  using Value = std::remove_const_t<T>;
  using Number = typename ElementOf<Value>::Number;
  static MPI_Datatype type() { return mpi_type<Number>(); }
  std::span<T> span() const { return {data, size}; }
};
template <OneDimensional R>
auto elements_of(R&& range) {
  return Elements<std::remove_reference_t<std::ranges::range_reference_t<R>>>{
      std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))};
}
// With gaps between its elements it is no buffer.
template <MultiDimensional M>
auto elements_of(const M& m) {
  return Elements<std::remove_pointer_t<decltype(m.data_handle())>>{
      m.data_handle(),
      m.is_exhaustive() ? static_cast<std::size_t>(m.mapping().required_span_size()) : no_size};
}

template <class R>
using ElementsOf = decltype(elements_of(std::declval<R>()));
template <class R>
concept Readable =
    requires { typename ElementsOf<R>; } && HasMpiType<typename ElementsOf<R>::Number>;
template <class R>
concept Writable =
    Readable<R> && !std::is_const_v<std::remove_pointer_t<decltype(ElementsOf<R>::data)>>;
// Whether two buffers have the same elements, const or not.
template <class A, class B>
concept Alike = std::same_as<typename ElementsOf<A>::Value, typename ElementsOf<B>::Value>;
// One number is one element, so that places and counts in elements are those of its MPI type.
template <class R>
concept OfNumbers = ElementOf<typename ElementsOf<R>::Value>::numbers == 1;

template <class A, class B>
concept OneKind = Alike<A, B> && OfNumbers<A> && OfNumbers<B>;

template <class Integer>
concept CountNumber = std::signed_integral<Integer> &&
                      (sizeof(Integer) == sizeof(int) || sizeof(Integer) == sizeof(MPI_Count));

}  // namespace detail

// Counts of blocks, and places in arrays, as the program has them: any contiguous range of int, or
// of integers of 64 bits (MPI_Count, MPI_Aint). It is read during the call only.
class Counts {
 public:
  Counts() = default;
  template <class R>
    requires std::ranges::contiguous_range<const R> && std::ranges::sized_range<const R> &&
                 detail::CountNumber<std::ranges::range_value_t<const R>>
  Counts(const R& counts)
      : data_(std::ranges::data(counts)),
        size_(static_cast<std::size_t>(std::ranges::size(counts))),
        wide_(sizeof(std::ranges::range_value_t<const R>) == sizeof(MPI_Count)) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool wide() const { return wide_; }
  MPI_Count operator[](std::size_t k) const {
    if (!wide_) return as<int>()[k];
    MPI_Count count;  // the program's may be long where this is long long
    std::memcpy(&count, as<std::byte>() + k * sizeof count, sizeof count);
    return count;
  }
  // For calls of the C interface that take numbers of this width.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  bool wide_ = false;
};
using Places = Counts;

namespace detail {

// A list as 64 bits, whatever it was: a copy if it is of int.
template <class Integer>
class Widened {
 public:
  explicit Widened(const Counts& list) : at_(list.as<Integer>()) {
    if (list.wide() || list.empty()) return;
    copy_.assign(list.as<int>(), list.as<int>() + list.size());
    at_ = copy_.data();
  }
  Widened(const Widened&) = delete;
  Widened& operator=(const Widened&) = delete;
  const Integer* get() const { return at_; }

 private:
  std::vector<Integer> copy_;
  const Integer* at_;
};

}  // namespace detail

}  // namespace api0
}  // namespace tonari
