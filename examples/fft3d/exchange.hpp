// SPDX-License-Identifier: BSD-3-Clause
// The grid in slabs, and the exchange in place that turns slabs of planes into slabs of columns.
#pragma once

#include <tonari/tonari.hpp>

#include <complex>
#include <string>

using Complex = std::complex<double>;

// A grid of n0 x n1 x n2 complex numbers, last index fastest, on p ranks; p divides n0 and n1. Rank
// r holds the planes from r * n0 / p of the grid, and the columns k1 from r * n1 / p of its
// transform.
struct Slab {
  MPI_Comm comm;
  int ranks, rank;
  std::size_t n0, n1, n2;

  std::size_t planes() const { return n0 / static_cast<std::size_t>(ranks); }
  std::size_t columns() const { return n1 / static_cast<std::size_t>(ranks); }
  std::size_t first_plane() const { return planes() * static_cast<std::size_t>(rank); }
  std::size_t first_column() const { return columns() * static_cast<std::size_t>(rank); }
  std::size_t plane() const { return n1 * n2; }
  std::size_t volume() const { return planes() * plane(); }
  double points() const { return static_cast<double>(n0) * static_cast<double>(plane()); }
  bool root() const { return rank == 0; }
};

// Block j, for rank j: of every plane the columns that rank j is to hold. What comes from rank j
// takes its place.
//
//     plane 0:  | block 0 | block 1 | ... | block p-1 |      a block: n0/p pieces of n1/p * n2
//                                                            numbers, n1 * n2 apart;
//     plane 1:  | block 0 | block 1 | ... | block p-1 |      the next block begins n1/p * n2
//                                                            numbers later
//       ...
//
// So all pairs swap equally large blocks of one datatype, and the exchange is its own inverse.
class Exchange {
 public:
  Exchange(const Slab& slab, Complex* grid);
  virtual ~Exchange() { MPI_Type_free(&block_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void operator()();
  virtual std::string name() const = 0;
  double seconds() const { return seconds_; }  // of the last exchange

 protected:
  virtual void exchange() = 0;
  const Slab& slab_;
  Complex* grid_;
  MPI_Datatype block_;

 private:
  double seconds_ = 0;
};

// One persistent request, for forward and backward transforms alike.
class TonariExchange : public Exchange {
 public:
  // memory: bytes on their way, empty for tonari's default
  TonariExchange(const Slab& slab, Complex* grid, const std::string& memory);
  std::string name() const override;

 private:
  void exchange() override;
  tonari::Request request_;
};

// MPI's own.
class NativeExchange : public Exchange {
 public:
  using Exchange::Exchange;
  std::string name() const override { return "MPI_Alltoall, MPI_IN_PLACE"; }

 private:
  void exchange() override {
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, grid_, 1, block_, slab_.comm);
  }
};
