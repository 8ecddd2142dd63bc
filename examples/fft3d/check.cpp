// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <new>
#include <numbers>
#include <vector>

#ifdef FFT3D_FFTW_MPI
#include <fftw3-mpi.h>
#endif

namespace {

fftw_complex* raw(Complex* a) { return reinterpret_cast<fftw_complex*>(a); }

// splitmix64 of Steele, Lea and Flood.
double random_number(std::uint64_t at) {
  std::uint64_t z = (at + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

Complex noise(std::uint64_t at) { return {random_number(2 * at), random_number(2 * at + 1)}; }

double largest(const Slab& slab, double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, slab.comm);
  return all;
}

// A NaN is larger than everything, and stays.
double larger(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

// amplitude * exp(2 pi i (k0 i0 / n0 + k1 i1 / n1 + k2 i2 / n2))
struct Wave {
  std::array<int, 3> k;
  Complex amplitude;
};
constexpr std::array<Wave, 4> waves{{{{0, 0, 0}, {0.25, 0}},
                                     {{1, 2, -1}, {1, 0}},
                                     {{-2, -1, 1}, {0, 0.5}},
                                     {{3, 4, 0}, {-0.5, 0.5}}}};

std::size_t wrap(int k, std::size_t n) {
  const auto m = static_cast<std::int64_t>(n);
  return static_cast<std::size_t>((k % m + m) % m);
}

std::vector<Complex> factors(int k, std::size_t n) {
  std::vector<Complex> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(wrap(k, n) * i % n) /
                                 static_cast<double>(n));
  return out;
}

void add_wave(const Slab& slab, const Wave& wave, Complex* grid) {
  const std::array f{factors(wave.k[0], slab.n0), factors(wave.k[1], slab.n1),
                     factors(wave.k[2], slab.n2)};
  for (std::size_t i0 = 0; i0 < slab.planes(); ++i0)
    for (std::size_t i1 = 0; i1 < slab.n1; ++i1) {
      const Complex row = wave.amplitude * f[0][slab.first_plane() + i0] * f[1][i1];
      for (std::size_t i2 = 0; i2 < slab.n2; ++i2) *grid++ += row * f[2][i2];
    }
}

}  // namespace

Grid allocate(std::size_t numbers) {
  void* memory = fftw_malloc(std::max<std::size_t>(numbers, 1) * sizeof(Complex));
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<Complex*>(memory), fftw_free};
}

void fill_noise(const Slab& slab, Complex* grid) {
  const std::uint64_t first = slab.first_plane() * slab.plane();
  for (std::size_t i = 0; i < slab.volume(); ++i) grid[i] = noise(first + i);
}

double noise_difference(const Slab& slab, const Complex* grid, double scale) {
  const std::uint64_t first = slab.first_plane() * slab.plane();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < slab.volume(); ++i) {
    difference = larger(difference, std::abs(scale * grid[i] - noise(first + i)));
    size = std::max(size, std::abs(noise(first + i)));
  }
  return largest(slab, difference) / largest(slab, size);
}

void fill_waves(const Slab& slab, Complex* grid) {
  std::fill(grid, grid + slab.volume(), Complex{});
  for (const Wave& wave : waves) add_wave(slab, wave, grid);
}

double waves_difference(const Slab& slab, Complex* grid, Strides at) {
  for (const Wave& wave : waves) {
    const std::size_t k1 = wrap(wave.k[1], slab.n1) - slab.first_column();
    if (k1 < slab.columns())
      grid[wrap(wave.k[0], slab.n0) * at.stride0 + k1 * at.stride1 + wrap(wave.k[2], slab.n2)] -=
          wave.amplitude * slab.points();
  }
  double difference = 0;
  for (std::size_t i = 0; i < slab.volume(); ++i)
    difference = larger(difference, std::abs(grid[i]));
  return largest(slab, difference) / slab.points();  // the largest amplitude is 1
}

double difference(const Slab& slab, Spectrum a, Spectrum b) {
  double difference = 0, size = 0;
  for (std::size_t k0 = 0; k0 < slab.n0; ++k0)
    for (std::size_t k1 = 0; k1 < slab.columns(); ++k1) {
      const Complex* x = a.numbers + k0 * a.at.stride0 + k1 * a.at.stride1;
      const Complex* y = b.numbers + k0 * b.at.stride0 + k1 * b.at.stride1;
      for (std::size_t k2 = 0; k2 < slab.n2; ++k2) {
        difference = larger(difference, std::abs(x[k2] - y[k2]));
        size = std::max(size, std::abs(y[k2]));
      }
    }
  return largest(slab, difference) / largest(slab, size);
}

#ifdef FFT3D_FFTW_MPI
namespace {

std::array<std::ptrdiff_t, 3> extents(const Slab& slab) {
  return {static_cast<std::ptrdiff_t>(slab.n0), static_cast<std::ptrdiff_t>(slab.n1),
          static_cast<std::ptrdiff_t>(slab.n2)};
}

class FftwMpi : public Fft {
 public:
  FftwMpi(const Slab& slab, Complex* grid, unsigned flags)
      : slab_(slab),
        forward_(plan(grid, FFTW_FORWARD, flags | FFTW_MPI_TRANSPOSED_OUT)),
        backward_(plan(grid, FFTW_BACKWARD, flags | FFTW_MPI_TRANSPOSED_IN)) {}
  void forward() override { fftw_execute(forward_.get()); }
  void backward() override { fftw_execute(backward_.get()); }
  // the first two dimensions are exchanged within the rank, too
  Strides spectrum() const override { return {slab_.n2, slab_.n0 * slab_.n2}; }
  std::string name() const override { return "FFTW MPI, transposed out, in place"; }

 private:
  Plan plan(Complex* grid, int direction, unsigned flags) const {
    const std::array<std::ptrdiff_t, 3> n = extents(slab_);
    return {
        fftw_mpi_plan_dft_3d(n[0], n[1], n[2], raw(grid), raw(grid), slab_.comm, direction, flags),
        fftw_destroy_plan};
  }

  const Slab& slab_;
  Plan forward_, backward_;
};

}  // namespace

std::size_t fftw_mpi_numbers(const Slab& slab) {
  fftw_mpi_init();
  const std::array<std::ptrdiff_t, 3> n = extents(slab);
  std::ptrdiff_t planes, plane, columns, column;
  return static_cast<std::size_t>(fftw_mpi_local_size_3d_transposed(
      n[0], n[1], n[2], slab.comm, &planes, &plane, &columns, &column));
}

std::unique_ptr<Fft> fftw_mpi(const Slab& slab, Complex* grid, unsigned flags) {
  return std::make_unique<FftwMpi>(slab, grid, flags);
}
#else
std::size_t fftw_mpi_numbers(const Slab&) { return 0; }
std::unique_ptr<Fft> fftw_mpi(const Slab&, Complex*, unsigned) { return nullptr; }
#endif

Grid serial_transform(const Slab& slab) {
  const Slab whole{MPI_COMM_SELF, 1, 0, slab.n0, slab.n1, slab.n2};
  Grid grid = allocate(whole.volume());
  fill_noise(whole, grid.get());
  const Plan plan{fftw_plan_dft_3d(static_cast<int>(slab.n0), static_cast<int>(slab.n1),
                                   static_cast<int>(slab.n2), raw(grid.get()), raw(grid.get()),
                                   FFTW_FORWARD, FFTW_ESTIMATE),
                  fftw_destroy_plan};
  fftw_execute(plan.get());
  return grid;
}

Spectrum part_of_rank(const Slab& slab, const Grid& transform) {
  return {transform.get() + slab.first_column() * slab.n2, {slab.plane(), slab.n2}};
}
