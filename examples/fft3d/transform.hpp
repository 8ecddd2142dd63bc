// SPDX-License-Identifier: BSD-3-Clause
// The 3-d transform of a grid in slabs: in place, and without a local transpose.
#pragma once

#include <fftw3.h>

#include <limits>
#include <memory>
#include <string>

#include "exchange.hpp"

// A number of the grid at (i0, i1, i2), its first two indices counted from the first of this rank,
// is [i0 * stride0 + i1 * stride1 + i2].
struct Strides {
  std::size_t stride0, stride1;
};

// A transform of one grid in place; not normalized, as everywhere in FFTW: backward after forward
// multiplies by the number of points.
class Fft {
 public:
  virtual ~Fft() = default;
  virtual void forward() = 0;
  virtual void backward() = 0;
  // How the transform lies in the grid. A rank has all k0, and k1 from its first column.
  virtual Strides spectrum() const = 0;
  virtual std::string name() const = 0;
  // of the last transform, where it can be told apart
  virtual double exchange_seconds() const { return std::numeric_limits<double>::quiet_NaN(); }
};

using Plan = std::unique_ptr<fftw_plan_s, decltype(&fftw_destroy_plan)>;

// The serial transforms in one direction (the sign in the exponent). Each is strided and in place:
// no number moves within the rank.
struct SerialPlans {
  SerialPlans(const Slab& slab, Complex* grid, int direction, unsigned flags);
  Plan planes;        // 2-d, all planes of this rank
  Plan along_ranks;   // 1-d, of length p, all columns of one plane
  Plan along_planes;  // 1-d, of length n0 / p, all columns
};

class SlabFft : public Fft {
 public:
  SlabFft(const Slab& slab, Complex* grid, std::unique_ptr<Exchange> exchange, unsigned flags);
  void forward() override;
  void backward() override;
  Strides spectrum() const override { return {slab_.columns() * slab_.n2, slab_.n2}; }
  std::string name() const override { return exchange_->name(); }
  double exchange_seconds() const override { return exchange_->seconds(); }

 private:
  Complex* plane(std::size_t l) const { return grid_ + l * slab_.plane(); }
  void twiddle(std::size_t l, int direction);

  const Slab& slab_;
  Complex* grid_;
  std::unique_ptr<Exchange> exchange_;
  SerialPlans forward_, backward_;
};
