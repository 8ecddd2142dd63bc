#include "vector/combine.hpp"

#include <complex>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace tonari {
namespace {

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
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

// By type: sum, minimum, maximum; null where there is none.
struct TypeRow {
  MPI_Datatype type;
  Combine by_op[3];
  int number;
};

template <class T>
TypeRow row(MPI_Datatype type) {
  if constexpr (std::is_arithmetic_v<T>) {
    const int number = static_cast<int>(sizeof(T)) + (std::is_floating_point_v<T> ? 100
                                                      : std::is_signed_v<T>       ? 200
                                                                                  : 300);
    return {type, {combine<T, Sum>, combine<T, Min>, combine<T, Max>}, number};
  } else {
    return {type, {combine<T, Sum>, nullptr, nullptr}, static_cast<int>(sizeof(T)) + 400};
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
                                        row<std::int32_t>(MPI_INT32_T),
                                        row<std::uint32_t>(MPI_UINT32_T),
                                        row<std::int64_t>(MPI_INT64_T),
                                        row<std::uint64_t>(MPI_UINT64_T),
                                        row<std::complex<float>>(MPI_C_FLOAT_COMPLEX),
                                        row<std::complex<double>>(MPI_C_DOUBLE_COMPLEX)};
  return all;
}

}  // namespace

Reduction reduction_of(MPI_Datatype type, MPI_Op op) {
  const int which = op == MPI_SUM ? 0 : op == MPI_MIN ? 1 : op == MPI_MAX ? 2 : -1;
  if (which < 0)
    fail(Errc::argument, "the operation of a reverse exchange must be MPI_SUM, MPI_MIN or MPI_MAX");
  for (const TypeRow& r : types()) {
    if (r.type != type) continue;
    if (!r.by_op[which])
      fail(Errc::argument,
           "complex numbers have no minimum and no maximum; the operation must be MPI_SUM");
    return {r.by_op[which], 10 * r.number + which};
  }
  fail(Errc::argument,
       "the type of a reverse exchange must be a predefined one of C numbers (MPI_DOUBLE, "
       "MPI_FLOAT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT32_T, "
       "MPI_INT64_T, unsigned ones, MPI_C_DOUBLE_COMPLEX, ...); for several side by side give "
       "components");
}

}  // namespace tonari
