// SPDX-License-Identifier: BSD-3-Clause
// The value of a cell, in the one order of additions that all storages share (vector.hpp says why
// that makes their results equal bit for bit).
//
// What differs between storages is only where neighboring cells come from. Stars and lists of
// points ask `near.template at<offset...>()` for the vector of cells at an offset. Boxes are made
// of rows: `row.template at<k>()` is the row shifted by k.
#pragma once

#include <array>
#include <cstddef>

#include <tonari/stencil/shapes.hpp>
#include <tonari/stencil/vector.hpp>

namespace tonari {
inline namespace api0 {
namespace detail {

// k steps along dimension i.
template <int D, int i, int k, class Near>
TONARI_INLINE auto along(const Near& near) {
  return [&]<int... j>(std::integer_sequence<int, j...>) TONARI_INLINED {
    return near.template at<(j == i ? k : 0)...>();
  }(std::make_integer_sequence<int, D>{});
}

template <int D, int i, int k, class Near>
TONARI_INLINE auto pair_along(const Near& near) {
  return along<D, i, -k>(near) + along<D, i, k>(near);
}

// Point n of a list.
template <class List, int n, class Near>
TONARI_INLINE auto at_point(const Near& near) {
  return [&]<int... j>(std::integer_sequence<int, j...>) TONARI_INLINED {
    return near.template at<List::coordinates[n * List::dims + j]...>();
  }(std::make_integer_sequence<int, List::dims>{});
}

template <class V, class T, int D, int R, class Near>
TONARI_INLINE V value(Star<D, R>, const T* c, const Near& near) {
  V sum = product(c[0], along<D, 0, 0>(near));
  unrolled<R>([&](auto r) TONARI_INLINED {
    constexpr int k = r + 1;
    V pairs = pair_along<D, 0, k>(near);
    unrolled<D - 1>([&](auto i) TONARI_INLINED { pairs = pairs + pair_along<D, i + 1, k>(near); });
    sum = fused(c[k], pairs, sum);
  });
  return sum;
}

template <class V, class T, int D, int R, class Near>
TONARI_INLINE V value(StarByDimension<D, R>, const T* c, const Near& near) {
  V sum = product(c[0], along<D, 0, 0>(near));
  unrolled<R * D>([&](auto n) TONARI_INLINED {
    sum = fused(c[1 + n], pair_along<D, n % D, n / D + 1>(near), sum);
  });
  return sum;
}

template <class V, class T, int D, int... X, class Near>
TONARI_INLINE V value(Points<D, X...> list, const T* c, const Near& near) {
  using List = decltype(list);
  V sum = product(c[0], at_point<List, 0>(near));
  unrolled<List::coefficients() - 1>(
      [&](auto n) TONARI_INLINED { sum = fused(c[n + 1], at_point<List, n + 1>(near), sum); });
  return sum;
}

// A box stencil with equal coefficients for offsets that are equal up to signs and order
// ("associative reordering", Zhao et al. 2019, section 4; here with the order of the last two
// dimensions used, too). With dimensions (.., z, y, x), for a cell and one source plane z' of its
// neighborhood:
//   e_k(y')  = x(-k) + x(+k) of the row y', e_0 the row itself
//              shared by the 2 R + 1 rows and planes that see the row
//   q_ab     = p_ab + p_ba, a <= b, where p_ab = e_b(y - a) + e_b(y + a)
//              shared by the planes that see this one
//   t_m      = sum over a <= b of c(m, a, b) q_ab
//              what the plane gives to the planes m away
//   value    = t_0(z) + (t_1(z - 1) + t_1(z + 1)) + (t_2(z - 2) + t_2(z + 2))
// In 3-d with radius 2 these are 2 + 9 + 33 + 4 operations per cell (18 of them in fused
// multiply-adds), not 125 multiply-adds. In 4-d and 5-d, rows of one class of offsets in the
// dimensions before z are added up first, and the values of all these classes last.
template <int D, int R>
struct BoxPlan {
  static constexpr int before = D > 3 ? D - 3 : 0;    // dimensions before z
  static constexpr int plane_reach = D >= 3 ? R : 0;  // along z and y, which need not exist
  static constexpr int row_reach = D >= 2 ? R : 0;
  // of offsets in the dimensions before z
  static constexpr int classes = before ? class_count<before ? before : 1>(R) : 1;
  static constexpr int offsets = power(2 * R + 1, before);
  static constexpr int coefficients = BoxStencil<D, R>::coefficients();
  using Before = Array<int, before ? before : 1>;

  // Number n of the offsets in the dimensions before z, in lexicographic order.
  static constexpr Before offset(int n) {
    Before x{};
    for (int i = before; i-- > 0; n /= 2 * R + 1)
      x[static_cast<std::size_t>(i)] = n % (2 * R + 1) - R;
    return x;
  }
  static constexpr int class_of_offset(int n) { return before ? class_of(offset(n), R) : 0; }

  // The coefficient of a cell that is m planes, a rows and b columns away, and away by an offset of
  // class o before that.
  static constexpr int coefficient(int o, int m, int a, int b) {
    Array<int, D> x{};
    const std::array<int, 3> last{m, a, b};
    for (int i = 0; i < (D < 3 ? D : 3); ++i)
      x[static_cast<std::size_t>(D - 1 - i)] = last[static_cast<std::size_t>(2 - i)];
    int representative = 0;
    while (class_of_offset(representative) != o) ++representative;
    for (int i = 0; i < before; ++i)
      x[static_cast<std::size_t>(i)] = offset(representative)[static_cast<std::size_t>(i)];
    return class_of(x, R);
  }
};

template <int R, class V>
struct RowSums {
  V e[static_cast<std::size_t>(R) + 1];
};

template <int R, class V, class Row>
TONARI_INLINE RowSums<R, V> row_sums(const Row& row) {
  RowSums<R, V> sums;
  sums.e[0] = row.template at<0>();
  unrolled<R>([&](auto k) TONARI_INLINED {
    sums.e[k + 1] = row.template at<-(k + 1)>() + row.template at<k + 1>();
  });
  return sums;
}

// t_0 to t_R from the sums of the rows around row `rows`, in one source plane.
template <int D, int R, int Class, class V>
TONARI_INLINE void plane_values(const V* c, const RowSums<R, V>* rows, V* t) {
  using Plan = BoxPlan<D, R>;
  const auto p = [&](auto a, auto b) TONARI_INLINED {
    if constexpr (a == 0)
      return rows[0].e[b];
    else
      return rows[-a].e[b] + rows[+a].e[b];
  };
  unrolled<Plan::row_reach + 1>([&](auto a) TONARI_INLINED {
    unrolled<R + 1>([&](auto b) TONARI_INLINED {
      constexpr bool has_rows = D >= 2;
      if constexpr (a <= b || !has_rows) {
        V q = p(a, b);
        if constexpr (a < b && has_rows) q = q + p(b, a);
        unrolled<Plan::plane_reach + 1>([&](auto m) TONARI_INLINED {
          const V& factor = c[std::integral_constant<int, Plan::coefficient(Class, m, a, b)>{}];
          if constexpr (a == 0 && b == 0)
            t[m] = product(factor, q);
          else
            t[m] = fused(factor, q, t[m]);
        });
      }
    });
  });
}

// The value of a cell from what the planes around it give; t(distance, m) is what the plane at this
// distance gives to planes m away.
template <int R, class V, class Given>
TONARI_INLINE V plane_sum(const Given& t) {
  V sum = t(0, 0);
  unrolled<R>([&](auto k) TONARI_INLINED { sum = sum + (t(-(k + 1), k + 1) + t(k + 1, k + 1)); });
  return sum;
}

}  // namespace detail
}  // namespace api0
}  // namespace tonari
