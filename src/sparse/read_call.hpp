// SPDX-License-Identifier: BSD-3-Clause
// A sparse call, and what one rank reads of it: messages as bytes in memory, and the method.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copy/moves.hpp"
#include "sparse/sparse_message.hpp"
#include "sparse/sparse_method.hpp"

namespace tonari {

// What the program gives.
struct SparseArguments {
  int sends;
  const int* destinations;
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
  const void* buffer;
};

// The messages of one call as bytes.
class OutgoingMessages {
 public:
  OutgoingMessages(const SparseArguments& given, int ranks, int rank)
      : given_(given), ranks_(ranks), rank_(rank) {}

  // Throws what is wrong with the arguments; only the buffer is used afterwards.
  void read();
  Bytes element_bytes() const { return element_.bytes(); }
  std::span<const SparseMessage> messages() const { return messages_; }

 private:
  std::string on_rank() const;
  bool dense() const;
  void read_message(int i);
  void pack();

  const SparseArguments given_;
  const int ranks_, rank_;
  Layout element_;
  MPI_Aint extent_ = 0, next_ = 0;
  std::vector<SparseMessage> messages_;
  std::unique_ptr<std::byte[]> packed_;
};

// The method that the settings ask for. forwards: the call may wait for other ranks on the way.
// Throws Errc::algorithm.
SparseMethod read_method(MPI_Info info, int ranks, bool forwards);

}  // namespace tonari
