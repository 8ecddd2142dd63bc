// SPDX-License-Identifier: BSD-3-Clause
// A star forest as vectors of tonari: one whose owned values are the roots, and for what such a
// vector does not do, one whose owned values are the leaves. Where some edges stay, those that copy
// have vectors of their own, without these.
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

  // Collective: the lists of all ranks are those of one star forest on `comm`. some_stay: edges of
  // any rank.
  void set(MPI_Comm comm, Lists lists, bool some_stay);
  // The side that values come from, and the side that they go to.
  const Side& source(Way way) const { return way == Way::bcast ? lists_.roots : lists_.leaves; }
  const Side& target(Way way) const { return way == Way::bcast ? lists_.leaves : lists_.roots; }
  // What is copied from places to the same ones in the other array, and by no vector.
  const std::vector<Places>& staying() const { return lists_.staying; }
  // Whether an exchange within one array writes what it has to send.
  bool meet(bool copied) const { return lists_.meet || (!copied && !lists_.staying.empty()); }

  // Collective: values that are copied go forward from those that are owned, and values that are
  // combined go backward to them.
  PetscErrorCode get(Way way, bool copied, tonari_vector* vector);

 private:
  PetscErrorCode make(const Lists& lists, bool roots_are_owned, tonari_vector* vector) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  Lists lists_;
  bool some_stay_ = false;
  // By whether roots are owned, and whether edges that stay are left out.
  tonari_vector kept_[2][2] = {};
};

}  // namespace tonari::petsc
