// SPDX-License-Identifier: BSD-3-Clause
#include "shapes.hpp"

namespace conformance {
namespace {

const Shape single{{0}, 0, 8};
const Shape with_hole{{0, 16}, 0, 40};
const Shape backward{{24, 0}, 0, 32};
const Shape below_zero{{-16, 8}, -16, 40};
const Shape downward{{0, -24}, -24, 32};

}  // namespace

const char* name_of(Data data) {
  switch (data) {
    case Data::plain:
      return "plain blocks";
    case Data::holes:
      return "types with holes";
    case Data::negative:
      return "negative lower bounds";
    case Data::bottom:
      return "MPI_BOTTOM";
    case Data::empty:
      return "no elements at all";
    case Data::in_place:
      return "MPI_IN_PLACE";
  }
  return "";
}

std::vector<Shape> shapes_of(Data data, bool receives) {
  switch (data) {
    case Data::holes:
      return receives ? std::vector{with_hole, single} : std::vector{single, backward};
    case Data::negative:
      return receives ? std::vector{downward, with_hole} : std::vector{below_zero, single};
    case Data::bottom:
      return receives ? std::vector{with_hole} : std::vector{single};
    case Data::in_place:
      return {with_hole, backward};
    default:
      return {single};
  }
}

Types::~Types() {
  for (MPI_Datatype& type : made_) MPI_Type_free(&type);
}

MPI_Datatype Types::keep(MPI_Datatype type) {
  made_.push_back(type);
  return type;
}

MPI_Datatype Types::make(const Shape& shape, MPI_Aint from) {
  if (shape.elements() == 1 && from == 0) return MPI_INT64_T;
  std::vector<MPI_Aint> at = shape.offsets;
  for (MPI_Aint& offset : at) offset += from;
  MPI_Datatype map = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(shape.elements(), 1, at.data(), MPI_INT64_T, &map);
  MPI_Type_create_resized(keep(map), shape.lower + from, shape.extent, &type);
  MPI_Type_commit(&type);
  return keep(type);
}

}  // namespace conformance
