// SPDX-License-Identifier: BSD-3-Clause
// Datatypes told apart for good: a handle may be freed and given to another type, a mark never is.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace tonari {

// A datatype as the program names it.
struct NamedType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  void* mark = nullptr;  // null: predefined, or no type

  // Whether this is what the handle stands for now.
  bool is(MPI_Datatype other) const;
};

// Marks the type if it was not. Throws Errc::mpi.
NamedType named_type(MPI_Datatype type);

// How many types that had a mark are gone. As long as that stays the same, all handles that were
// marked before still stand for the same types, and nobody needs to ask the MPI.
std::uint64_t marked_types_freed();

// Types that a call names, to tell whether their handles still stand for them.
class MarkedTypes {
 public:
  // Throws Errc::mpi.
  void add(MPI_Datatype type);
  bool same() const { return all_.empty() || still_marked(); }

 private:
  bool still_marked() const;

  std::vector<NamedType> all_;       // those that can be freed, once each
  mutable std::uint64_t freed_ = 0;  // marked_types_freed when they were last compared
};

}  // namespace tonari
