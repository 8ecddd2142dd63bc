// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/unit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

// Wider values are copied in fewer steps.
Unit widest_values(std::int64_t bytes) {
  if (bytes % 8 == 0) return {MPI_INT64_T, static_cast<int>(bytes / 8), bytes};
  if (bytes % 4 == 0) return {MPI_INT32_T, static_cast<int>(bytes / 4), bytes};
  return {MPI_BYTE, static_cast<int>(bytes), bytes};
}

bool is_complex(MPI_Datatype type) {
  return type == MPI_C_FLOAT_COMPLEX || type == MPI_C_DOUBLE_COMPLEX;
}

// Those of tonari_vector_reverse_init.
bool can_be_combined(MPI_Datatype type, MPI_Op op) {
  const std::array numbers{MPI_FLOAT,   MPI_DOUBLE,         MPI_INT,         MPI_UNSIGNED,
                           MPI_LONG,    MPI_UNSIGNED_LONG,  MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
                           MPI_SHORT,   MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                           MPI_INT8_T,  MPI_INT16_T,        MPI_INT32_T,     MPI_INT64_T,
                           MPI_UINT8_T, MPI_UINT16_T,       MPI_UINT32_T,    MPI_UINT64_T};
  return std::ranges::find(numbers, type) != numbers.end() || (is_complex(type) && op == MPI_SUM);
}

// A type as it was made of another one.
struct Making {
  int combiner = MPI_COMBINER_NAMED, count = 1;
  MPI_Datatype of = MPI_DATATYPE_NULL;
};

PetscErrorCode making_of(MPI_Datatype type, Making* made) {
  int ints = 0, addresses = 0, types = 0;
  MPI_Aint no_address = 0;
  PetscFunctionBegin;
  *made = {};
  PetscCallMPI(MPI_Type_get_envelope(type, &ints, &addresses, &types, &made->combiner));
  if (made->combiner == MPI_COMBINER_CONTIGUOUS || made->combiner == MPI_COMBINER_DUP)
    PetscCallMPI(
        MPI_Type_get_contents(type, ints, addresses, types, &made->count, &no_address, &made->of));
  PetscFunctionReturn(success);
}

// What MPI_Type_get_contents gives is freed unless it is named.
PetscErrorCode free_unless_named(MPI_Datatype* type) {
  int ints = 0, addresses = 0, types = 0, combiner = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_get_envelope(*type, &ints, &addresses, &types, &combiner));
  if (combiner != MPI_COMBINER_NAMED) PetscCallMPI(MPI_Type_free(type));
  PetscFunctionReturn(success);
}

}  // namespace

PetscErrorCode unit_of_bytes(MPI_Datatype unit, Unit* found) {
  MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PetscFunctionBegin;
  *found = {};
  PetscCallMPI(MPI_Type_get_extent_x(unit, &lower, &extent));
  PetscCallMPI(MPI_Type_get_true_extent_x(unit, &true_lower, &true_extent));
  const bool within = lower == 0 && extent > 0 && extent <= std::numeric_limits<int>::max() &&
                      true_lower >= 0 && true_lower + true_extent <= extent;
  if (within) *found = widest_values(static_cast<std::int64_t>(extent));
  PetscFunctionReturn(success);
}

PetscErrorCode unit_of_numbers(MPI_Datatype unit, MPI_Op op, Unit* found) {
  Making made;
  PetscFunctionBegin;
  *found = {};
  PetscCall(making_of(unit, &made));
  if (made.combiner == MPI_COMBINER_NAMED) {
    if (!can_be_combined(unit, op)) PetscFunctionReturn(success);
    PetscCall(unit_of_bytes(unit, found));
    found->value = unit, found->count = found->possible() ? 1 : 0;
  } else if (made.of != MPI_DATATYPE_NULL) {
    PetscCall(unit_of_numbers(made.of, op, found));
    PetscCall(free_unless_named(&made.of));
    const std::int64_t count = std::int64_t{found->count} * made.count;
    if (count > std::numeric_limits<int>::max()) *found = {};
    if (found->possible()) found->bytes *= made.count, found->count = static_cast<int>(count);
  }
  if (!found->possible()) *found = {};
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
