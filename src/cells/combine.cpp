// SPDX-License-Identifier: BSD-3-Clause
#include "cells/combine.hpp"

#include <complex>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "mpi/fortran_number.hpp"
#include "mpi/type_envelope.hpp"

namespace tonari {
namespace {

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};

template <class T, class Op>
void combine(std::byte* to, const std::byte* from, const std::int32_t* offsets, std::size_t count,
             std::size_t components) {
  T* const out = reinterpret_cast<T*>(to);
  const T* const in = reinterpret_cast<const T*>(from);
  if (!offsets)
    for (std::size_t j = 0; j < count * components; ++j) out[j] = Op::of(out[j], in[j]);
  else if (components == 1)
    for (std::size_t j = 0; j < count; ++j) out[offsets[j]] = Op::of(out[offsets[j]], in[j]);
  else
    for (std::size_t j = 0; j < count; ++j) {
      T* const at =
          out + static_cast<std::ptrdiff_t>(offsets[j]) * static_cast<std::ptrdiff_t>(components);
      for (std::size_t c = 0; c < components; ++c) at[c] = Op::of(at[c], in[j * components + c]);
    }
}

// A number of values that the compiler knows: it vectorizes these, without a loop.
template <std::size_t n, class Op, class T>
void combine_some(T* __restrict out, const T* __restrict in) {
#pragma GCC unroll 8
  for (std::size_t j = 0; j < n; ++j) out[j] = Op::of(out[j], in[j]);
}

// combine(out, in) for each piece.
template <class T, class Combine>
void for_pieces(const Move& move, Combine combine) {
  std::byte* to = move.to;
  const std::byte* from = move.from;
  for (std::size_t p = 0; p < move.count; ++p, to += move.to_stride, from += move.from_stride)
    combine(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from));
}

// Ghosts across the rows of an array are pieces of a few values.
template <class T, class Op>
void combine_move(const Move& move) {
  constexpr std::size_t some = 64 / sizeof(T);
  const std::size_t values = move.length / sizeof(T);
  if (values == 1) return for_pieces<T>(move, combine_some<1, Op, T>);
  if (values == 2) return for_pieces<T>(move, combine_some<2, Op, T>);
  for_pieces<T>(move, [values](T* out, const T* in) {
    std::size_t j = 0;
    for (; j + some <= values; j += some) combine_some<some, Op>(out + j, in + j);
    for (; j < values; ++j) out[j] = Op::of(out[j], in[j]);
  });
}

struct Functions {
  Combine combine = nullptr;
  CombineMove move = nullptr;
};
template <class T, class Op>
constexpr Functions functions{combine<T, Op>, combine_move<T, Op>};

// By type: sum, minimum, maximum; null where there is none.
struct TypeRow {
  MPI_Datatype type;
  Functions by_op[3];
  std::size_t bytes;
  int number;
};

template <class T>
TypeRow row(MPI_Datatype type) {
  if constexpr (std::is_arithmetic_v<T>) {
    const int number = static_cast<int>(sizeof(T)) + (std::is_floating_point_v<T> ? 100
                                                      : std::is_signed_v<T>       ? 200
                                                                                  : 300);
    return {type, {functions<T, Sum>, functions<T, Min>, functions<T, Max>}, sizeof(T), number};
  } else {
    return {type, {functions<T, Sum>, {}, {}}, sizeof(T), static_cast<int>(sizeof(T)) + 400};
  }
}

const std::vector<TypeRow>& types() {
  static const std::vector<TypeRow> all{row<double>(MPI_DOUBLE),
                                        row<float>(MPI_FLOAT),
                                        row<int>(MPI_INT),
                                        row<unsigned>(MPI_UNSIGNED),
                                        row<long>(MPI_LONG),
                                        row<unsigned long>(MPI_UNSIGNED_LONG),
                                        row<long long>(MPI_LONG_LONG),
                                        row<signed char>(MPI_SIGNED_CHAR),
                                        row<unsigned char>(MPI_UNSIGNED_CHAR),
                                        row<short>(MPI_SHORT),
                                        row<unsigned short>(MPI_UNSIGNED_SHORT),
                                        row<std::int8_t>(MPI_INT8_T),
                                        row<std::uint8_t>(MPI_UINT8_T),
                                        row<std::int16_t>(MPI_INT16_T),
                                        row<std::uint16_t>(MPI_UINT16_T),
                                        row<unsigned long long>(MPI_UNSIGNED_LONG_LONG),
                                        row<std::int32_t>(MPI_INT32_T),
                                        row<std::uint32_t>(MPI_UINT32_T),
                                        row<std::int64_t>(MPI_INT64_T),
                                        row<std::uint64_t>(MPI_UINT64_T),
                                        row<std::complex<float>>(MPI_C_FLOAT_COMPLEX),
                                        row<std::complex<double>>(MPI_C_DOUBLE_COMPLEX)};
  return all;
}

}  // namespace

MPI_Datatype number_type(MPI_Datatype type) {
  const Envelope e = envelope_of(type);
  if (e.combiner == MPI_COMBINER_NAMED) return c_number(type);
  if (e.combiner != MPI_COMBINER_CONTIGUOUS && e.combiner != MPI_COMBINER_DUP)
    return MPI_DATATYPE_NULL;
  int count = 0;
  MPI_Count large_count = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  get_contents(type, e, &count, nullptr, &large_count, &inner);
  const MPI_Datatype found = number_type(inner);
  if (envelope_of(inner).combiner != MPI_COMBINER_NAMED) MPI_Type_free(&inner);
  return found;
}

Reduction reduction_of(MPI_Datatype given, MPI_Op op) {
  const MPI_Datatype type = c_number(given);
  const int which = op == MPI_SUM ? 0 : op == MPI_MIN ? 1 : op == MPI_MAX ? 2 : -1;
  if (which < 0)
    fail(Errc::argument, "the operation of a reverse exchange must be MPI_SUM, MPI_MIN or MPI_MAX");
  for (const TypeRow& r : types()) {
    if (r.type != type) continue;
    const Functions& f = r.by_op[which];
    if (!f.combine)
      fail(Errc::argument,
           "complex numbers have no minimum and no maximum; the operation must be MPI_SUM");
    return {f.combine, f.move, r.bytes, 10 * r.number + which};
  }
  fail(Errc::argument,
       "the type of a reverse exchange must be a predefined one of C numbers (MPI_DOUBLE, "
       "MPI_FLOAT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT32_T, "
       "MPI_INT64_T, unsigned ones, MPI_C_DOUBLE_COMPLEX, ...); for several side by side give "
       "components");
}

}  // namespace tonari
