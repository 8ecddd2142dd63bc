// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/lists.hpp"

#include <algorithm>
#include <span>

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

// The places of one rank's list, in the order in which both ends have them.
std::span<const MPI_Aint> list_of(const Side& side, int rank) {
  std::size_t begin = 0;
  for (std::size_t r = 0; r < side.ranks.size(); ++r) {
    const auto count = static_cast<std::size_t>(side.counts[r]);
    if (side.ranks[r] == rank) return std::span(side.places).subspan(begin, count);
    begin += count;
  }
  return {};
}

// Of this rank's edges to itself, by number: whether it stays.
std::vector<bool> stays(const Lists& lists, int here) {
  const std::span<const MPI_Aint> roots = list_of(lists.roots, here),
                                  leaves = list_of(lists.leaves, here);
  std::vector<bool> all(roots.size());
  for (std::size_t k = 0; k < roots.size(); ++k)
    all[k] = roots[k] + lists.roots.first == leaves[k] + lists.leaves.first;
  return all;
}

std::vector<Places> staying_places(const Lists& lists, int here) {
  std::vector<MPI_Aint> places;
  const std::span<const MPI_Aint> leaves = list_of(lists.leaves, here);
  const std::vector<bool> stay = stays(lists, here);
  for (std::size_t k = 0; k < stay.size(); ++k)
    if (stay[k]) places.push_back(leaves[k] + lists.leaves.first);
  std::ranges::sort(places);
  std::vector<Places> all;
  for (const MPI_Aint at : places) {
    if (!all.empty() && all.back().first + all.back().count == at)
      ++all.back().count;
    else
      all.push_back({at, 1});
  }
  return all;
}

Side without(const Side& side, int here, const std::vector<bool>& left_out) {
  Side rest = side;
  rest.places.clear();
  std::size_t k = 0;
  for (std::size_t r = 0; r < side.ranks.size(); ++r) {
    const std::size_t before = rest.places.size();
    for (MPI_Count edge = 0; edge < side.counts[r]; ++edge, ++k)
      if (side.ranks[r] != here || !left_out[static_cast<std::size_t>(edge)])
        rest.places.push_back(side.places[k]);
    rest.counts[r] = static_cast<MPI_Count>(rest.places.size() - before);
  }
  return rest;
}

bool share_a_place(const Side& one, const Side& other) {
  std::vector<bool> of_one(static_cast<std::size_t>(one.length));
  for (const MPI_Aint at : one.places) of_one[static_cast<std::size_t>(at)] = true;
  return std::ranges::any_of(other.places, [&](MPI_Aint at) {
    const MPI_Aint there = at + other.first - one.first;
    return there >= 0 && there < one.length && of_one[static_cast<std::size_t>(there)];
  });
}

}  // namespace

Lists Lists::moving(int here) const {
  const std::vector<bool> stay = stays(*this, here);
  Lists rest;
  rest.roots = without(roots, here, stay), rest.leaves = without(leaves, here, stay);
  rest.remote = remote;
  return rest;
}

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
  lists->staying = staying_places(*lists, here);
  const Lists moving = lists->moving(here);
  lists->meet = share_a_place(moving.roots, moving.leaves);
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
