// SPDX-License-Identifier: BSD-3-Clause
// What the transforms are checked with: grids whose transform is known, and FFTW's own transforms.
#pragma once

#include <memory>

#include "transform.hpp"

using Grid = std::unique_ptr<Complex[], decltype(&fftw_free)>;
Grid allocate(std::size_t numbers);

// Between -1 and 1 in both parts, the same for a place in the grid whatever the number of ranks.
void fill_noise(const Slab& slab, Complex* grid);
// of scale * grid from it, relative to its largest number [collective]
double noise_difference(const Slab& slab, const Complex* grid, double scale);

// The sum of a few plane waves, whose transform is zero except for as many numbers.
void fill_waves(const Slab& slab, Complex* grid);
// of that from grid, relative to its largest number; overwrites grid [collective]
double waves_difference(const Slab& slab, Complex* grid, Strides at);

// The transform of the noise as somebody else computes it.
struct Spectrum {
  const Complex* numbers;
  Strides at;
};
// the largest, relative to the largest number expected [collective]
double difference(const Slab& slab, Spectrum a, Spectrum expected);

// FFTW's distributed transform, in place with FFTW_MPI_TRANSPOSED_OUT: the same distribution before
// and after as ours. The grid needs so many numbers; 0 if FFTW's MPI part is not there for this
// MPI.
std::size_t fftw_mpi_numbers(const Slab& slab);
std::unique_ptr<Fft> fftw_mpi(const Slab& slab, Complex* grid, unsigned flags);

// FFTW's serial transform of all the noise, on every rank by itself.
Grid serial_transform(const Slab& slab);
Spectrum part_of_rank(const Slab& slab, const Grid& transform);
