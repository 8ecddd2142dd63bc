// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/type_recipe.hpp"

#include <algorithm>

#include "mpi/type_envelope.hpp"

namespace tonari {
namespace {

// Do not call it for the combiners of unnamed predefined types (Fortran 90's, value and index),
// which must not be freed.
bool is_derived(int combiner) {
  static constexpr int derived[] = {
      MPI_COMBINER_DUP,           MPI_COMBINER_CONTIGUOUS,     MPI_COMBINER_VECTOR,
      MPI_COMBINER_HVECTOR,       MPI_COMBINER_INDEXED,        MPI_COMBINER_HINDEXED,
      MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT,
      MPI_COMBINER_SUBARRAY,      MPI_COMBINER_DARRAY,         MPI_COMBINER_RESIZED};
  return std::find(std::begin(derived), std::end(derived), combiner) != std::end(derived);
}

}  // namespace

Recipe recipe_of(MPI_Datatype type) {
  const Envelope e = envelope_of(type);
  Recipe recipe;
  recipe.combiner = e.combiner;
  recipe.has_parts = e.types > 0;
  recipe.large = e.large > 0;
  if (!is_derived(e.combiner)) return recipe;
  std::vector<int> integers(e.integers);
  std::vector<MPI_Aint> addresses(e.addresses);
  std::vector<MPI_Count> large(e.large);
  std::vector<MPI_Datatype> types(e.types);
  recipe.parts.reserve(types.size());  // from the next line on the library owns them
  get_contents(type, e, integers.data(), addresses.data(), large.data(), types.data());
  for (MPI_Datatype part : types)
    recipe.parts.emplace_back(part, is_derived(envelope_of(part).combiner));
  recipe.arguments.assign(integers.begin(), integers.end());
  recipe.arguments.insert(recipe.arguments.end(), addresses.begin(), addresses.end());
  recipe.arguments.insert(recipe.arguments.end(), large.begin(), large.end());
  return recipe;
}

}  // namespace tonari
