// SPDX-License-Identifier: BSD-3-Clause
#include "channels/type_of_bytes.hpp"

#include "base/checked.hpp"
#include "channels/mpi_error.hpp"

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

OwnedType type_of_bytes(const Layout& bytes) {
  std::vector<OwnedType> parts;
  std::vector<MPI_Aint> places;
  for (const Run& run : bytes.runs()) {
    check_mpi(MPI_Type_create_hvector(checked_cast<int>(run.count, "pieces of a message"),
                                      checked_cast<int>(run.length, "bytes of a piece"), run.stride,
                                      MPI_BYTE, parts.emplace_back().place()),
              "MPI_Type_create_hvector");
    places.push_back(run.offset);
  }
  return join_types(parts, places);
}

}  // namespace tonari
