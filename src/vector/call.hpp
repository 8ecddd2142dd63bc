// SPDX-License-Identifier: BSD-3-Clause
// A call that exchanges values of a vector, as the program made it, and what such exchanges are
// called.
#pragma once

#include <mpi.h>

#include "cells/direction.hpp"
#include "tonari/vector.h"

namespace tonari {

struct VectorCall {
  Direction direction;
  MPI_Op op;  // unless forward
  int count;
  const tonari_vector_field* fields;
};

inline const char* exchange_name(Direction direction) {
  static const char* const names[] = {"forward exchange of a vector",
                                      "reverse exchange of a vector",
                                      "combining exchange of a vector"};
  return names[static_cast<int>(direction)];
}

inline const char* operation_of(Direction direction) {
  static const char* const names[] = {"vector forward", "vector reverse", "vector combine"};
  return names[static_cast<int>(direction)];
}

}  // namespace tonari
