// SPDX-License-Identifier: BSD-3-Clause
// The edges of a star forest as tonari takes them: lists of places for each rank.
#pragma once

#include <petscsf.h>

#include <vector>

namespace tonari::petsc {

// The places of one side, roots or leaves, rank by rank. They count from the first one that is
// there, so that the array that they lie in is as short as can be.
struct Side {
  std::vector<int> ranks;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
  MPI_Aint first = 0, length = 0;
  bool repeats = false;  // some place is there twice
};

// Consecutive places, as the program counts them.
struct Places {
  MPI_Aint first, count;
};

// Both ends of this rank's edges: its roots go to the leaves of the ranks in `roots`, and its
// leaves have their roots on those in `leaves`. Edges of this rank to itself are in both.
struct Lists {
  Side roots, leaves;
  bool remote = false;  // some edge leads to another rank
  // Whose root and leaf have the same number: where both sides are one array, what is copied along
  // them stays where it is.
  std::vector<Places> staying;
  // Of all other edges: some root has the number of some leaf.
  bool meet = false;

  // Those without the edges that stay. Places count from where they did.
  Lists moving(int here) const;
};

// sf: set up.
PetscErrorCode read_lists(PetscSF sf, Lists* lists);

}  // namespace tonari::petsc
