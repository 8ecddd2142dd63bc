// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, with the types that it was made of.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/owned_type.hpp"

namespace tonari {

// A type that MPI_Type_get_contents returned: ours to free, except those that are MPI's own.
class Part {
 public:
  Part(MPI_Datatype type, bool derived) : type_(type), owner_(derived ? type : MPI_DATATYPE_NULL) {}
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
  OwnedType owner_;
};

// How a type was made. Arguments come in the same order whether counts are int, MPI_Aint or
// MPI_Count (except for subarrays).
struct Recipe {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<std::ptrdiff_t> arguments;
  std::vector<Part> parts;
  bool has_parts = false;  // even if they are not read
  bool large = false;      // made with counts of type MPI_Count
};

// Throws Errc::mpi.
Recipe recipe_of(MPI_Datatype type);

}  // namespace tonari
