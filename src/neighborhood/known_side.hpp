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

  // Whether it has equal numbers, and equal handles, which stand for the same types still.
  bool same(const BufferArguments& given) const;

 private:
  Form form_ = Form::regular;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  NumberCopy counts_;
  std::vector<MPI_Aint> displacements_;
  std::vector<MPI_Datatype> types_;
  MarkedTypes marked_;
};

}  // namespace tonari
