// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/type_of_bytes.hpp"

#include <limits>

#include "base/checked.hpp"
#include "mpi/large_type.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

OwnedType join_types(const std::vector<OwnedType>& parts, const std::vector<MPI_Aint>& places) {
  std::vector<MPI_Datatype> types;
  for (const OwnedType& part : parts) types.push_back(part.get());
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(checked_cast<int>(types.size(), "pieces of a message"),
                                   ones.data(), places.data(), types.data(), &whole),
            "MPI_Type_create_struct");
  OwnedType owned(whole);
  check_mpi(MPI_Type_commit(&whole), "MPI_Type_commit");
  return owned;
}

namespace {

// Single bytes, each right below the one before: Open MPI 4.1.4 takes a vector of them for
// contiguous bytes, in the other order.
bool descends(const Run& run) { return run.length == 1 && run.stride == -1; }

// Pieces that follow each other at the run's stride.
OwnedType type_of(const Run& run) {
  std::vector<OwnedType> large;
  const CountedType piece = with_int_count(static_cast<MPI_Count>(run.length), MPI_BYTE, large);
  OwnedType all;
  if (run.count <= static_cast<std::size_t>(std::numeric_limits<int>::max()) && !descends(run)) {
    check_mpi(MPI_Type_create_hvector(static_cast<int>(run.count), piece.count, run.stride,
                                      piece.type, all.place()),
              "MPI_Type_create_hvector");
    return all;
  }
  OwnedType one, spaced;
  check_mpi(MPI_Type_contiguous(piece.count, piece.type, one.place()), "MPI_Type_contiguous");
  check_mpi(MPI_Type_create_resized(one.get(), 0, run.stride, spaced.place()),
            "MPI_Type_create_resized");
  return elements_of(static_cast<MPI_Count>(run.count), spaced.get());
}

}  // namespace

OwnedType type_of_bytes(const Layout& bytes) {
  std::vector<OwnedType> parts;
  std::vector<MPI_Aint> places;
  for (const Run& run : bytes.runs()) {
    parts.push_back(type_of(run));
    places.push_back(run.offset);
  }
  return join_types(parts, places);
}

}  // namespace tonari
