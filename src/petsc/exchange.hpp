// SPDX-License-Identifier: BSD-3-Clause
// The exchanges of one kind on a star forest: one way, one unit, one operation. They have a request
// of tonari, and more of them only where several are under way at once.
#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "petsc/race.hpp"
#include "petsc/unit.hpp"
#include "petsc/vectors.hpp"

namespace tonari::petsc {

struct Kind {
  Way way = Way::bcast;
  MPI_Op op = MPI_REPLACE;
  Unit unit;

  bool copied() const { return op == MPI_REPLACE; }
  bool operator==(const Kind&) const = default;
};

// One exchange under way: a request and, where it would write what it has to send, a copy of that.
class Lane {
 public:
  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  tonari_request request = TONARI_REQUEST_NULL;
  std::vector<std::byte> copy_of_source;
};

class Exchange {
 public:
  Exchange(const Kind& kind, int number) : kind(kind), number(number) {}

  const Kind kind;
  const int number;        // among those of its star forest
  bool by_tonari = false;  // on all ranks: it can be
  Race race;
  bool passed_on_for_good() const { return !by_tonari || race.lost(); }

  // The lane of the next exchange; null if too many are under way. Lanes are taken in turn until
  // none is used, so that ranks agree on them whichever of them end first.
  Lane* take();
  void give_back() { --under_way_; }
  bool idle() const { return under_way_ == 0; }
  std::size_t lanes() const { return lanes_.size(); }
  // After an exchange of tonari's: whether it has chosen how it does them; before, starts try
  // several ways. It may be known a few exchanges later.
  bool has_chosen();
  // Frees all requests. None may be under way.
  void drop_lanes() { lanes_.clear(), taken_ = 0; }

  // Collective the first time that a lane is used, else local.
  PetscErrorCode start(MPI_Comm comm, Vectors& vectors, Lane& lane, const void* source,
                       void* target);

 private:
  static constexpr std::size_t most_lanes = 4;
  PetscErrorCode make_request(MPI_Comm comm, Vectors& vectors, Lane& lane, const void* source,
                              void* target);
  void copy_staying(const Vectors& vectors, const std::byte* from, std::byte* to) const;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t taken_ = 0, under_way_ = 0;
  bool chosen_ = false;
  unsigned asked_ = 0;
};

}  // namespace tonari::petsc
