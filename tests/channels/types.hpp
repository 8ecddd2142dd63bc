// SPDX-License-Identifier: BSD-3-Clause
// Datatypes for tests, by one call each.
#pragma once

#include <vector>

#include "mpi/mpi_error.hpp"

namespace tonari::test {

using Ints = std::vector<int>;
using Offsets = std::vector<MPI_Aint>;

// Makes types and frees them at the end. Copies are flattened uncommitted, only packing needs a
// committed type.
class Types {
 public:
  Types() = default;
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }

  MPI_Datatype dup(MPI_Datatype part) { return make(MPI_Type_dup, part); }
  MPI_Datatype contiguous(int count, MPI_Datatype part) {
    return make(MPI_Type_contiguous, count, part);
  }
  MPI_Datatype vector(int count, int length, int stride, MPI_Datatype part) {
    return make(MPI_Type_vector, count, length, stride, part);
  }
  MPI_Datatype hvector(int count, int length, MPI_Aint stride, MPI_Datatype part) {
    return make(MPI_Type_create_hvector, count, length, stride, part);
  }
  MPI_Datatype indexed(const Ints& lengths, const Ints& at, MPI_Datatype part) {
    return make(MPI_Type_indexed, static_cast<int>(at.size()), lengths.data(), at.data(), part);
  }
  MPI_Datatype hindexed(const Ints& lengths, const Offsets& at, MPI_Datatype part) {
    return make(MPI_Type_create_hindexed, static_cast<int>(at.size()), lengths.data(), at.data(),
                part);
  }
  MPI_Datatype indexed_block(int length, const Ints& at, MPI_Datatype part) {
    return make(MPI_Type_create_indexed_block, static_cast<int>(at.size()), length, at.data(),
                part);
  }
  MPI_Datatype hindexed_block(int length, const Offsets& at, MPI_Datatype part) {
    return make(MPI_Type_create_hindexed_block, static_cast<int>(at.size()), length, at.data(),
                part);
  }
  MPI_Datatype structure(const Ints& lengths, const Offsets& at,
                         const std::vector<MPI_Datatype>& parts) {
    return make(MPI_Type_create_struct, static_cast<int>(at.size()), lengths.data(), at.data(),
                parts.data());
  }
  MPI_Datatype subarray(const Ints& sizes, const Ints& parts, const Ints& starts, int order,
                        MPI_Datatype part) {
    return make(MPI_Type_create_subarray, static_cast<int>(sizes.size()), sizes.data(),
                parts.data(), starts.data(), order, part);
  }
  MPI_Datatype darray(int ranks, int rank, const Ints& sizes, const Ints& distributions,
                      const Ints& arguments, const Ints& grid, int order, MPI_Datatype part) {
    return make(MPI_Type_create_darray, ranks, rank, static_cast<int>(sizes.size()), sizes.data(),
                distributions.data(), arguments.data(), grid.data(), order, part);
  }
  MPI_Datatype resized(MPI_Aint low, MPI_Aint extent, MPI_Datatype part) {
    return make(MPI_Type_create_resized, part, low, extent);
  }
  MPI_Datatype f90_real(int digits, int range) {  // MPI's own
    MPI_Datatype type;
    check_mpi(MPI_Type_create_f90_real(digits, range, &type), "MPI_Type_create_f90_real");
    return type;
  }

  template <class Constructor, class... Arguments>
  MPI_Datatype make(Constructor constructor, Arguments... arguments) {
    MPI_Datatype type;
    check_mpi(constructor(arguments..., &type), "making a datatype");
    made_.push_back(type);
    return type;
  }

 private:
  std::vector<MPI_Datatype> made_;
};

}  // namespace tonari::test
