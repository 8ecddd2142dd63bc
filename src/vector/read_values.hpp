// What the program says about its values.
#pragma once

#include "vector/exchange.hpp"
#include "vector/request.hpp"

namespace tonari {

struct VectorValues {
  ValueShape shape;
  ValueBuffers buffers;
  Reduction reduction{nullptr, 0};  // reverse
};

// Throws Errc::buffers if they overlap. Rows of bytes, one per vector; none may lie over another.
void check_apart(const ValueBuffers& buffers, int vectors);

// Throws Errc::argument, Errc::overflow, Errc::buffers. Local.
VectorValues read_values(const VectorPattern& pattern, const VectorCall& call);

}  // namespace tonari
