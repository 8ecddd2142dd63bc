// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/lists.hpp"

#include <algorithm>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

Side side_of(PetscInt ranks, const PetscMPIInt* rank, const PetscInt* offset,
             const PetscInt* place) {
  Side side;
  for (PetscInt r = 0; r < ranks; ++r) {
    side.ranks.push_back(rank[r]);
    side.counts.push_back(offset[r + 1] - offset[r]);
  }
  if (ranks == 0 || offset[ranks] == 0) return side;
  side.places.assign(place, place + offset[ranks]);
  const auto [least, largest] = std::ranges::minmax(side.places);
  side.first = least, side.length = largest - least + 1;
  std::vector<bool> seen(static_cast<std::size_t>(side.length));
  for (MPI_Aint& at : side.places) {
    at -= side.first;
    side.repeats = side.repeats || seen[static_cast<std::size_t>(at)];
    seen[static_cast<std::size_t>(at)] = true;
  }
  return side;
}

}  // namespace

PetscErrorCode read_lists(PetscSF sf, Lists* lists) {
  PetscInt ranks = 0;
  const PetscMPIInt* rank = nullptr;
  const PetscInt *offset = nullptr, *place = nullptr;
  PetscMPIInt here = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(sf)), &here));
  PetscCall(PetscSFGetLeafRanks(sf, &ranks, &rank, &offset, &place));
  lists->roots = side_of(ranks, rank, offset, place);
  PetscCall(PetscSFGetRootRanks(sf, &ranks, &rank, &offset, &place, nullptr));
  lists->leaves = side_of(ranks, rank, offset, place);
  const auto elsewhere = [here](const Side& side) {
    return std::ranges::any_of(side.ranks, [here](int r) { return r != here; });
  };
  lists->remote = elsewhere(lists->roots) || elsewhere(lists->leaves);
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
