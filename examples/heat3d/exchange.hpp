// SPDX-License-Identifier: BSD-3-Clause
// The halo exchange of a field with its 26 neighbors, by tonari and by MPI's own neighborhood
// collective.
#pragma once

#include <tonari/tonari.hpp>

#include "heat.hpp"

// The 26 offsets, and per neighbor what of a field goes there and where what comes from the
// opposite side belongs: subarray types from the start of the field, so that neither side packs by
// hand.
class Halo {
 public:
  explicit Halo(const Domain& domain);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  static constexpr int neighbors = 26;
  static const std::vector<int>& offsets();  // 26 * 3
  const std::vector<int>& counts() const { return counts_; }
  const std::vector<MPI_Aint>& displacements() const { return displacements_; }
  const std::vector<MPI_Datatype>& send() const { return send_; }
  const std::vector<MPI_Datatype>& recv() const { return recv_; }

 private:
  std::vector<int> counts_;
  std::vector<MPI_Aint> displacements_;
  std::vector<MPI_Datatype> send_, recv_;
};

// One persistent request per field; blocks are described in place.
class TonariExchange {
 public:
  TonariExchange(const Domain& domain, const Halo& halo, std::array<Field, 2>& fields);
  void operator()(int which);
  const tonari::Request& request() const { return requests_[0]; }
  // What making the neighborhood and both requests took on this rank.
  double setup_seconds() const { return setup_seconds_; }

 private:
  double setup_seconds_ = -MPI_Wtime();
  tonari::Neighborhood near_;
  std::array<tonari::Request, 2> requests_;
};

// MPI_Neighbor_alltoallw on a distributed graph with the same neighbors in the same order.
// (Cartesian communicators know only the six along the axes, and several MPIs swap the two halos of
// a periodic dimension with one or two ranks there.)
class NativeExchange {
 public:
  NativeExchange(const Domain& domain, const Halo& halo, std::array<Field, 2>& fields);
  ~NativeExchange() { MPI_Comm_free(&graph_); }
  NativeExchange(const NativeExchange&) = delete;
  NativeExchange& operator=(const NativeExchange&) = delete;
  void operator()(int which);

 private:
  const Halo& halo_;
  std::array<Field, 2>& fields_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};
