// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/large_type.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace tonari {
namespace {

constexpr MPI_Count most = std::numeric_limits<int>::max();
constexpr MPI_Count per_part = MPI_Count{1} << 30;

}  // namespace

OwnedType elements_of(MPI_Count count, MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  checked_cast<int>((count - 1) / per_part + 1, "parts of a block");
  for (MPI_Count done = 0; done < count; done += per_part) {
    lengths.push_back(static_cast<int>(std::min(per_part, count - done)));
    places.push_back(checked_multiply<MPI_Aint>(done, extent, "size of a block"));
  }
  OwnedType made;
  check_mpi(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                     places.data(), type, made.place()),
            "MPI_Type_create_hindexed");
  return made;
}

CountedType with_int_count(MPI_Count count, MPI_Datatype type, std::vector<OwnedType>& owned) {
  if (count <= most) return {static_cast<int>(count), type};
  OwnedType& made = owned.emplace_back(elements_of(count, type));
  check_mpi(MPI_Type_commit(made.place()), "MPI_Type_commit");
  return {1, made.get()};
}

MPI_Count size_of_type(MPI_Datatype type) {
  MPI_Count size = 0;
  check_mpi(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  if (size == MPI_UNDEFINED)
    fail(Errc::overflow, "an element of a datatype has more bytes than MPI can count");
  return size;
}

}  // namespace tonari
