// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/vectors.hpp"

#include <utility>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

int make(MPI_Comm comm, const Side& owned, const Side& needed, tonari_vector* vector) {
  return tonari_vector_create_from_neighbors_c(
      comm, owned.length, static_cast<int>(owned.ranks.size()), owned.ranks.data(),
      owned.counts.data(), owned.places.data(), static_cast<int>(needed.ranks.size()),
      needed.ranks.data(), needed.counts.data(), needed.places.data(), MPI_INFO_NULL, vector);
}

}  // namespace

Vectors::~Vectors() {
  for (tonari_vector* vector : {&by_roots_, &by_leaves_})
    if (*vector != TONARI_VECTOR_NULL) tonari_vector_free(vector);
}

PetscErrorCode Vectors::set(MPI_Comm comm, Lists lists) {
  PetscFunctionBegin;
  comm_ = comm, lists_ = std::move(lists);
  PetscFunctionReturn(success);
}

PetscErrorCode Vectors::get(Way way, bool copied, tonari_vector* vector) {
  const bool roots_are_owned = (way == Way::bcast) == copied;
  tonari_vector& kept = roots_are_owned ? by_roots_ : by_leaves_;
  PetscFunctionBegin;
  if (kept == TONARI_VECTOR_NULL) {
    const Side &owned = roots_are_owned ? lists_.roots : lists_.leaves,
               &needed = roots_are_owned ? lists_.leaves : lists_.roots;
    PetscCall(said(comm_, make(comm_, owned, needed, &kept)));
  }
  *vector = kept;
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
