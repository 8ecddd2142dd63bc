// SPDX-License-Identifier: BSD-3-Clause
// A periodic 3-d grid of ranks, each with one cube of cells and ghosts around it.
#pragma once

#include <mpi.h>
#include <tonari/grid_layout.h>

#include <array>
#include <vector>

namespace bench::halo {

// One of 26. Numbers ascend with the signs, dimension 0 first, so that the opposite of number i is
// 25 - i.
struct Neighbor {
  std::array<int, 3> sign;
  int rank;
};

class Torus {
 public:
  explicit Torus(MPI_Comm comm);  // [collective]
  ~Torus() { MPI_Comm_free(&cart_); }
  Torus(const Torus&) = delete;
  Torus& operator=(const Torus&) = delete;

  MPI_Comm comm() const { return cart_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::array<int, 3>& dims() const { return dims_; }
  const std::array<int, 3>& coordinates() const { return coordinates_; }
  const std::vector<Neighbor>& neighbors() const { return neighbors_; }

 private:
  MPI_Comm cart_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 0;
  std::array<int, 3> dims_{}, coordinates_{};
  std::vector<Neighbor> neighbors_;
};

constexpr int opposite(int neighbor) { return 25 - neighbor; }

// A rank's cube.
struct Cube {
  long long size, ghost;
  tonari_box own() const { return {{0, 0, 0, 0, 0}, {size, size, size, 0, 0}}; }
  tonari_box ghosts(const Neighbor& from) const;  // that this neighbor fills
  tonari_box surface(const Neighbor& to) const;   // that this neighbor needs
};

long long cells_in(const tonari_box& box);

// f(z, y, x) for all cells, x fastest.
template <class F>
void for_each_cell(const tonari_box& box, const F& f) {
  for (long long z = box.first[0]; z < box.end[0]; ++z)
    for (long long y = box.first[1]; y < box.end[1]; ++y)
      for (long long x = box.first[2]; x < box.end[2]; ++x) f(z, y, x);
}

}  // namespace bench::halo
