// SPDX-License-Identifier: BSD-3-Clause
// How the elements of a block lie in memory, as MPI datatypes and as this program's own lists.
#pragma once

#include <mpi.h>

#include <vector>

namespace conformance {

enum class Data { plain, holes, negative, bottom, empty, in_place };
inline constexpr Data all_data[] = {Data::plain,  Data::holes, Data::negative,
                                    Data::bottom, Data::empty, Data::in_place};
const char* name_of(Data data);

// One instance of a type: bytes from its origin to each element, in the order of the type map.
// Instances follow each other at distances of the extent.
struct Shape {
  std::vector<MPI_Aint> offsets;
  MPI_Aint lower = 0, extent = 8;

  int elements() const { return static_cast<int>(offsets.size()); }
};

// Those that blocks of one side take in turns, where they may differ; else the first.
std::vector<Shape> shapes_of(Data data, bool receives);

// Makes datatypes and frees them. Requests that use them must be gone by then.
class Types {
 public:
  Types() = default;
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types();

  // from: an address that is added to all offsets, for buffers at MPI_BOTTOM.
  MPI_Datatype make(const Shape& shape, MPI_Aint from = 0);

 private:
  MPI_Datatype keep(MPI_Datatype type);

  std::vector<MPI_Datatype> made_;
};

}  // namespace conformance
