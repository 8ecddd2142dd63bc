// SPDX-License-Identifier: BSD-3-Clause
// Box stencils (the mathematics is in sums.hpp): planes of a block are read one after the other,
// each once; what a plane gives to the planes around it waits in a ring.
#pragma once

#include <bit>
#include <cstddef>

#include <tonari/stencil/sums.hpp>

namespace tonari {
inline namespace api0 {
namespace detail {

// One column of vectors in a block of at most Rows rows per plane.
template <class V, int D, int R, int Rows>
class BoxSweep {
  using Plan = BoxPlan<D, R>;
  static constexpr int slots =
      static_cast<int>(std::bit_ceil(2U * static_cast<unsigned>(Plan::plane_reach) + 1));

 public:
  template <class T>
  TONARI_INLINE explicit BoxSweep(const T* coefficients) {
    for (int i = 0; i < Plan::coefficients; ++i) c_[i] = coefficients[i] - V{};
  }

  // For planes first to end - 1 and rows first_row to end_row - 1, which may be constants or not:
  // write(plane, row, value). read(offset, plane, row) is the row at this offset (a type; see
  // BoxPlan::offset) in the dimensions before z.
  template <class Read, class Write>
  TONARI_INLINE void run(int first, int end, int first_row, int end_row, const Read& read,
                         const Write& write) {
    for (int plane = first - Plan::plane_reach; plane < end + Plan::plane_reach; ++plane) {
      unrolled<Plan::classes>(
          [&](auto o) TONARI_INLINED { read_plane<o>(plane, first_row, end_row, read); });
      const int done = plane - Plan::plane_reach;
      if (done < first) continue;
      for (int row = first_row; row < end_row; ++row) {
        V sum = given<0>(done, row - first_row);
        unrolled<Plan::classes - 1>(
            [&](auto o) TONARI_INLINED { sum = sum + given<o + 1>(done, row - first_row); });
        write(done, row, sum);
      }
    }
  }

 private:
  template <int o, class Read>
  TONARI_INLINE void read_plane(int plane, int first_row, int end_row, const Read& read) {
    RowSums<R, V> sums[Rows + 2 * Plan::row_reach];
    for (int row = first_row - Plan::row_reach; row < end_row + Plan::row_reach; ++row)
      sums[row - first_row + Plan::row_reach] = sums_of_class<o>(plane, row, read);
    for (int row = 0; row < end_row - first_row; ++row) {
      V t[Plan::plane_reach + 1];  // in registers first
      plane_values<D, R, o>(c_, sums + row + Plan::row_reach, t);
      for (int m = 0; m <= Plan::plane_reach; ++m) ring_[plane & (slots - 1)][row][o][m] = t[m];
    }
  }

  // The sums of all rows whose offset before z is of class o.
  template <int o, class Read>
  TONARI_INLINE static RowSums<R, V> sums_of_class(int plane, int row, const Read& read) {
    if constexpr (Plan::before == 0)
      return row_sums<R, V>(read(std::integral_constant<int, 0>{}, plane, row));
    RowSums<R, V> total;
    bool none = true;
    unrolled<Plan::offsets>([&](auto n) TONARI_INLINED {
      if constexpr (Plan::class_of_offset(n) == o) {
        const RowSums<R, V> sums = row_sums<R, V>(read(n, plane, row));
        for (int k = 0; k <= R; ++k) total.e[k] = none ? sums.e[k] : total.e[k] + sums.e[k];
        none = false;
      }
    });
    return total;
  }

  template <int o>
  TONARI_INLINE V given(int plane, int row) const {
    return plane_sum<Plan::plane_reach, V>([&](int distance, int m) TONARI_INLINED -> const V& {
      return ring_[(plane + distance) & (slots - 1)][row][o][m];
    });
  }

  V c_[Plan::coefficients];
  static constexpr std::size_t places = slots, rows = Rows, classes = Plan::classes,
                               distances = Plan::plane_reach + 1;
  V ring_[places][rows][classes][distances];
};

}  // namespace detail
}  // namespace api0
}  // namespace tonari
