// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/packed_type.hpp"

#include <utility>
#include <vector>

#include "mpi/datatype.hpp"
#include "mpi/large_type.hpp"
#include "mpi/type_recipe.hpp"

namespace tonari {
namespace {

OwnedType packed_element(MPI_Datatype type);

OwnedType duplicate_of(MPI_Datatype type) {
  OwnedType made;
  check_mpi(MPI_Type_dup(type, made.place()), "MPI_Type_dup");
  return made;
}

OwnedType packed_bytes(MPI_Count count) {
  if (count > 0) return elements_of(count, MPI_BYTE);
  OwnedType none;
  check_mpi(MPI_Type_contiguous(0, MPI_BYTE, none.place()), "MPI_Type_contiguous");
  return none;
}

// Parts of a structure, packed one by one. The arguments begin with their number and lengths.
OwnedType packed_structure(const Recipe& recipe) {
  std::vector<OwnedType> parts;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  MPI_Aint end = 0;
  for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
    const std::ptrdiff_t count = recipe.arguments[1 + i];
    const MPI_Datatype part = recipe.parts[i].get();
    const MPI_Count size = size_of_type(part);
    if (count == 0 || size == 0) continue;
    const OwnedType one = packed_element(part);
    types.push_back(parts.emplace_back(elements_of(count, one.get())).get());
    places.push_back(end);
    end += static_cast<MPI_Aint>(size * count);
  }
  const std::vector<int> ones(types.size(), 1);
  OwnedType all, made;
  check_mpi(MPI_Type_create_struct(static_cast<int>(types.size()), ones.data(), places.data(),
                                   types.data(), all.place()),
            "MPI_Type_create_struct");
  // whose extent may be rounded up
  check_mpi(MPI_Type_create_resized(all.get(), 0, end, made.place()), "MPI_Type_create_resized");
  return made;
}

// All types but structures repeat one type, however often its size says. What MPI does not let us
// take apart counts as bytes: pairs with a gap.
OwnedType packed_element(MPI_Datatype type) {
  const MPI_Count size = size_of_type(type);
  const TypeExtent extent = extent_of(type);
  const Recipe recipe = recipe_of(type);
  if (size == 0) return packed_bytes(0);
  if (recipe.parts.empty())
    return extent.low == 0 && extent.length == size ? duplicate_of(type) : packed_bytes(size);
  if (recipe.combiner == MPI_COMBINER_STRUCT) return packed_structure(recipe);
  const MPI_Datatype part = recipe.parts.front().get();
  const OwnedType one = packed_element(part);
  return elements_of(size / size_of_type(part), one.get());
}

}  // namespace

OwnedType packed_type(MPI_Datatype type) {
  OwnedType made = packed_element(type);
  check_mpi(MPI_Type_commit(made.place()), "MPI_Type_commit");
  return made;
}

}  // namespace tonari
