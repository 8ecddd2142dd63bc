// SPDX-License-Identifier: BSD-3-Clause
// One side of a call that was read, to tell whether a later call says the same of it.
#pragma once

#include <vector>

#include "mpi/type_marks.hpp"
#include "neighborhood/call.hpp"

namespace tonari {

// All but the buffer.
class KnownSide {
 public:
  KnownSide() = default;
  // Throws Errc::mpi.
  KnownSide(const BufferArguments& given, std::size_t blocks);

  // Equal numbers and equal handles. Whether those stand for the same types still, same_types()
  // tells.
  bool same(const BufferArguments& given) const;
  bool same_types() const;

 private:
  Form form_ = Form::regular;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  KeptNumbers counts_;
  std::vector<MPI_Aint> displacements_;
  std::vector<MPI_Datatype> types_;
  std::vector<NamedType> marked_;  // those that can be freed, once each
};

}  // namespace tonari
