// SPDX-License-Identifier: BSD-3-Clause
// What an MPI finds wrong in arguments before it does anything: its error class, as one rank sees
// it. It is asked for after tonari has refused a call, to tell the program what its MPI would.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tonari::preload {

// Bytes of so many elements; 0 where the MPI refuses the type.
std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);

// The elements of one block. Each of these returns MPI_SUCCESS, or the class.
int wrong_elements(MPI_Count count, MPI_Datatype type);
// The buffer of one block, which lies `at` bytes behind it, or so many extents of its type.
enum class Unit { byte, extent };
int wrong_buffer(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Aint at = 0,
                 Unit unit = Unit::byte);

inline int first_wrong(int one, int other) { return one == MPI_SUCCESS ? other : one; }

// One side of a call, with its form's lists.

template <class Count>
int wrong_side(const void* buffer, Count count, MPI_Datatype type) {
  return first_wrong(wrong_elements(count, type), wrong_buffer(buffer, count, type));
}

template <class Count, class Displacement>
int wrong_side(const void* buffer, int blocks, const Count counts[],
               const Displacement displacements[], MPI_Datatype type) {
  if (blocks > 0 && (!counts || !displacements)) return MPI_ERR_ARG;
  int wrong = buffer == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;  // without blocks, too
  for (int i = 0; i < blocks; ++i) {
    wrong = first_wrong(wrong_elements(counts[i], type), wrong);
    wrong = first_wrong(wrong, wrong_buffer(buffer, counts[i], type,
                                            static_cast<MPI_Aint>(displacements[i]), Unit::extent));
  }
  return wrong;
}

// Displacement: MPI_Aint between neighbors, and maybe int in place.
template <class Count, class Displacement>
int wrong_side(const void* buffer, int blocks, const Count counts[],
               const Displacement displacements[], const MPI_Datatype types[]) {
  if (blocks > 0 && (!counts || !displacements || !types)) return MPI_ERR_ARG;
  int wrong = MPI_SUCCESS;
  for (int i = 0; i < blocks; ++i) {
    wrong = first_wrong(wrong, wrong_elements(counts[i], types[i]));
    wrong = first_wrong(
        wrong, wrong_buffer(buffer, counts[i], types[i], static_cast<MPI_Aint>(displacements[i])));
  }
  return wrong;
}

}  // namespace tonari::preload
