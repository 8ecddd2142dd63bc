// SPDX-License-Identifier: BSD-3-Clause
// The grid in one storage: two copies of a cube of doubles with ghosts.
#pragma once

#include <tonari/grid.h>

#include "halo/options.hpp"
#include "halo/torus.hpp"

namespace bench::halo {

enum class Storage { array, fortran, brick, mapped, mapped_ghosts };

class Field {
 public:
  // [collective] throws tonari::Error
  Field(const Torus& torus, const Cube& cube, Storage storage, const Options& options);
  ~Field() { tonari_grid_free(&grid_); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  Storage storage() const { return storage_; }
  bool bricked() const { return storage_ != Storage::array && storage_ != Storage::fortran; }
  const Torus& torus() const { return torus_; }
  const Cube& cube() const { return cube_; }
  tonari_grid grid() const { return grid_; }
  const tonari_grid_info& info() const { return info_; }
  double* base(int copy) const { return bases_[copy]; }
  const tonari_array& array() const { return array_; }
  const tonari_bricks& bricks() const { return bricks_; }

  double& at(int copy, long long z, long long y, long long x) const {
    return bases_[copy][bricked() ? in_bricks(z, y, x) : in_array(z, y, x)];
  }

  // Own cells get numbers that no other cell of any rank or generation has, the ghosts values that
  // no cell has (mapped ghosts are others' cells).
  void fill(int copy, int generation) const;
  void poison_ghosts(int copy) const;
  void fill_ghosts(int copy, int generation) const;  // as an exchange would
  // every ghost cell along at most so many dimensions is what its owner has there
  bool delivered(int copy, int generation, int along = 3) const;
  // every own cell has its ghosts, which are equal to it, added to it
  bool added(int copy, int generation) const;
  // of the bits of own cells, in an order that does not depend on the storage
  unsigned long long checksum(int copy) const;

 private:
  long long in_array(long long z, long long y, long long x) const {
    const long long g = cube_.ghost;
    return (z + g) * array_.stride[0] + (y + g) * array_.stride[1] + (x + g) * array_.stride[2];
  }
  long long in_bricks(long long z, long long y, long long x) const;
  double value(int generation, long long z, long long y, long long x) const;

  const Torus& torus_;
  Cube cube_;
  Storage storage_;
  tonari_grid grid_ = TONARI_GRID_NULL;
  tonari_grid_info info_{};
  tonari_array array_{};
  tonari_bricks bricks_{};
  double* bases_[2]{};
};

}  // namespace bench::halo
