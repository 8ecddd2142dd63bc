// SPDX-License-Identifier: BSD-3-Clause
// A one-shot call with sides in memory of a device, as a call of pinned memory that says the same:
// its form and counts, and types of the same elements without gaps. So ranks with and without such
// memory do the same things for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "neighborhood/staging.hpp"

namespace tonari {

class StagedCall {
 public:
  // read: of the call. Throws like StagedSide, and Errc::mpi.
  StagedCall(const Call& call, const LocalTopology& topology, const ReadCall& read);

  // The call of pinned memory for `call`, which may have other buffers than the first one. Its
  // arrays belong to that call and to this object.
  Call pinned(const Call& call) const;
  // The buffers of `call`, which take the places of the first one's. Throws Errc::argument.
  void move_to(const Call& call);
  // Copies blocks to pinned memory, and from there; returns when that is complete.
  void pack() const;
  void unpack() const;

  const StagedSides& sides() const { return sides_; }

 private:
  struct Side {
    const void* buffer = nullptr;  // of the first call
    std::ptrdiff_t shift = 0;      // from there to that of the last one
    std::vector<MPI_Aint> displacements;
    std::vector<MPI_Datatype> types;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  std::shared_ptr<PinnedCopy> pin(const StagedSide& staged, const BufferArguments& given,
                                  std::size_t blocks, Side& side);
  static BufferArguments pinned(const BufferArguments& given, const Side& side,
                                const PinnedCopy& copy);
  static void move_to(const void* buffer, Side& side, PinnedCopy& copy, const char* name);

  PackedTypes packed_;
  Side send_, recv_;
  StagedSides sides_;
};

}  // namespace tonari
