// SPDX-License-Identifier: BSD-3-Clause
#include "halo/torus.hpp"

namespace bench::halo {

Torus::Torus(MPI_Comm comm) {
  constexpr int periodic[]{1, 1, 1};
  MPI_Comm_size(comm, &ranks_);
  MPI_Dims_create(ranks_, 3, dims_.data());
  MPI_Cart_create(comm, 3, dims_.data(), periodic, 0, &cart_);
  MPI_Comm_rank(cart_, &rank_);
  MPI_Cart_coords(cart_, rank_, 3, coordinates_.data());
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        if (!dz && !dy && !dx) continue;
        const int at[]{coordinates_[0] + dz, coordinates_[1] + dy, coordinates_[2] + dx};
        int rank;
        MPI_Cart_rank(cart_, at, &rank);  // periodic: any coordinate will do
        neighbors_.push_back({{dz, dy, dx}, rank});
      }
}

tonari_box Cube::ghosts(const Neighbor& from) const {
  tonari_box box = own();
  for (int k = 0; k < 3; ++k) {
    if (from.sign[k] < 0) box.first[k] = -ghost, box.end[k] = 0;
    if (from.sign[k] > 0) box.first[k] = size, box.end[k] = size + ghost;
  }
  return box;
}

tonari_box Cube::surface(const Neighbor& to) const {
  tonari_box box = own();
  for (int k = 0; k < 3; ++k) {
    if (to.sign[k] < 0) box.end[k] = ghost;
    if (to.sign[k] > 0) box.first[k] = size - ghost;
  }
  return box;
}

long long cells_in(const tonari_box& box) {
  long long cells = 1;
  for (int k = 0; k < 3; ++k) cells *= box.end[k] - box.first[k];
  return cells;
}

}  // namespace bench::halo
