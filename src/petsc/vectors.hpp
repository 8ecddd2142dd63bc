// SPDX-License-Identifier: BSD-3-Clause
// A star forest as vectors of tonari: one whose owned values are the roots, and for what such a
// vector does not do, one whose owned values are the leaves.
#pragma once

#include <tonari/vector.h>

#include "petsc/lists.hpp"

namespace tonari::petsc {

enum class Way : bool { bcast, reduce };  // from roots to leaves, and back

class Vectors {
 public:
  Vectors() = default;
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;
  ~Vectors();

  // Collective: the lists of all ranks are those of one star forest on `comm`.
  PetscErrorCode set(MPI_Comm comm, Lists lists);
  const Lists& lists() const { return lists_; }
  // The side that values come from, and the side that they go to.
  const Side& source(Way way) const { return way == Way::bcast ? lists_.roots : lists_.leaves; }
  const Side& target(Way way) const { return way == Way::bcast ? lists_.leaves : lists_.roots; }

  // Collective: values that are copied go forward from those that are owned, and values that are
  // combined go backward to them.
  PetscErrorCode get(Way way, bool copied, tonari_vector* vector);

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  Lists lists_;
  tonari_vector by_roots_ = TONARI_VECTOR_NULL, by_leaves_ = TONARI_VECTOR_NULL;
};

}  // namespace tonari::petsc
