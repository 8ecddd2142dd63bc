// SPDX-License-Identifier: BSD-3-Clause
#include "transform.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

fftw_complex* raw(Complex* a) { return reinterpret_cast<fftw_complex*>(a); }

// `count` transforms in place, of the given extents; neighbors in one transform are `stride` apart,
// transforms `distance`.
Plan many(std::initializer_list<std::size_t> extents, std::size_t count, Complex* a,
          std::size_t stride, std::size_t distance, int direction, unsigned flags) {
  const std::vector<int> n(extents.begin(), extents.end());
  fftw_plan plan = fftw_plan_many_dft(
      static_cast<int>(n.size()), n.data(), static_cast<int>(count), raw(a), nullptr,
      static_cast<int>(stride), static_cast<int>(distance), raw(a), nullptr,
      static_cast<int>(stride), static_cast<int>(distance), direction, flags);
  if (plan == nullptr) throw std::runtime_error("FFTW has no plan for this grid");
  return {plan, fftw_destroy_plan};
}

void execute(const Plan& plan, Complex* a) { fftw_execute_dft(plan.get(), raw(a), raw(a)); }

// Without std::complex's care for infinities, which costs a branch per number.
void multiply(std::span<Complex> row, Complex by) {
  for (Complex& x : row)
    x = {x.real() * by.real() - x.imag() * by.imag(), x.real() * by.imag() + x.imag() * by.real()};
}

}  // namespace

SerialPlans::SerialPlans(const Slab& slab, Complex* grid, int direction, unsigned flags)
    : planes(many({slab.n1, slab.n2}, slab.planes(), grid, 1, slab.plane(), direction, flags)),
      along_ranks(many({static_cast<std::size_t>(slab.ranks)}, slab.columns() * slab.n2, grid,
                       slab.columns() * slab.n2, 1, direction, flags)),
      along_planes(many({slab.planes()}, slab.plane(), grid, slab.plane(), 1, direction, flags)) {}

SlabFft::SlabFft(const Slab& slab, Complex* grid, std::unique_ptr<Exchange> exchange,
                 unsigned flags)
    : slab_(slab),
      grid_(grid),
      exchange_(std::move(exchange)),
      forward_(slab, grid, FFTW_FORWARD, flags),
      backward_(slab, grid, FFTW_BACKWARD, flags) {}

// After the exchange the columns of plane i0 = j n0/p + l, the l-th that rank j had, are where
// block j of the l-th plane was:
//
//     l = 0:  | j = 0 | j = 1 | ... | j = p-1 |
//     l = 1:  | j = 0 | j = 1 | ... | j = p-1 |       two strides, and not one: no order in which
//                                                     FFTW could transform a line of n0 numbers.
//       ...
//
// So the line is transformed in two steps (Cooley and Tukey). With w = exp(-2 pi i / n0), k0 = k +
// p m, and k < p:
//
//     X[k + p m] = sum_l exp(-2 pi i l m p / n0)  w^(l k)  sum_j exp(-2 pi i j k / p) x[j n0/p + l]
//
// First along j, in place: k where j was. Then the factor w^(l k). Then along l: m where l was. And
// there k0 = k + p m lies in natural order, because block k is followed by block k + 1, and the
// last block of plane m by the first of plane m + 1: the order that the exchange leaves is undone
// by the order that the two steps leave.
void SlabFft::forward() {
  execute(forward_.planes, grid_);
  (*exchange_)();
  for (std::size_t l = 0; l < slab_.planes(); ++l) {
    execute(forward_.along_ranks, plane(l));
    twiddle(l, FFTW_FORWARD);
  }
  execute(forward_.along_planes, grid_);
}

void SlabFft::backward() {
  execute(backward_.along_planes, grid_);
  for (std::size_t l = 0; l < slab_.planes(); ++l) {
    twiddle(l, FFTW_BACKWARD);
    execute(backward_.along_ranks, plane(l));
  }
  (*exchange_)();
  execute(backward_.planes, grid_);
}

void SlabFft::twiddle(std::size_t l, int direction) {
  const std::size_t piece = slab_.columns() * slab_.n2;
  for (std::size_t k = 1; l > 0 && k < static_cast<std::size_t>(slab_.ranks); ++k) {
    // less than one: l < n0/p and k < p
    const double turns = static_cast<double>(l * k) / static_cast<double>(slab_.n0);
    multiply({plane(l) + k * piece, piece},
             std::polar(1.0, direction * 2 * std::numbers::pi * turns));
  }
}
