// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/vectors.hpp"

#include <utility>

#include "petsc/sentences.hpp"

namespace tonari::petsc {

Vectors::~Vectors() {
  for (auto& some : kept_)
    for (tonari_vector& vector : some)
      if (vector != TONARI_VECTOR_NULL) tonari_vector_free(&vector);
}

void Vectors::set(MPI_Comm comm, Lists lists, bool some_stay) {
  comm_ = comm, lists_ = std::move(lists), some_stay_ = some_stay;
}

PetscErrorCode Vectors::make(const Lists& lists, bool roots_are_owned,
                             tonari_vector* vector) const {
  const Side &owned = roots_are_owned ? lists.roots : lists.leaves,
             &needed = roots_are_owned ? lists.leaves : lists.roots;
  PetscFunctionBegin;
  PetscCall(said(comm_, tonari_vector_create_from_neighbors_c(
                            comm_, owned.length, static_cast<int>(owned.ranks.size()),
                            owned.ranks.data(), owned.counts.data(), owned.places.data(),
                            static_cast<int>(needed.ranks.size()), needed.ranks.data(),
                            needed.counts.data(), needed.places.data(), MPI_INFO_NULL, vector)));
  PetscFunctionReturn(success);
}

PetscErrorCode Vectors::get(Way way, bool copied, tonari_vector* vector) {
  const bool roots_are_owned = (way == Way::bcast) == copied, some_left_out = copied && some_stay_;
  tonari_vector& kept = kept_[roots_are_owned][some_left_out];
  PetscMPIInt here = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &here));
  if (kept == TONARI_VECTOR_NULL)
    PetscCall(make(some_left_out ? lists_.moving(here) : lists_, roots_are_owned, &kept));
  *vector = kept;
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
