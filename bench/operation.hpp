// SPDX-License-Identifier: BSD-3-Clause
// The six operations, and how their blocks lie in memory.
#pragma once

#include <string>

#include "topology/neighborhood.hpp"

namespace bench {

enum class Form { regular, v, w };  // one count for all; counts and displacements; and types

struct Operation {
  tonari::Collective collective;
  Form form;
};

enum class Layout {
  contiguous,  // block after block
  strided,     // w only: every other block is a vector with gaps
  halo,        // alltoallw only: surfaces and ghost cells of one array
};

Operation parse_operation(const std::string& word);  // throws tonari::Error
// "" chooses: halo for alltoallw, strided for allgatherw
Layout parse_layout(const std::string& word, Operation operation);
std::string name(Operation operation);
std::string name(Layout layout);

}  // namespace bench
