// SPDX-License-Identifier: BSD-3-Clause
// One call on one communicator with one kind of data: what this rank finds wrong.
#pragma once

#include <string>

#include "sides.hpp"

namespace conformance {

struct Verdict {
  std::string wrong;     // a sentence, or nothing
  bool pending = false;  // the MPI may still use the buffers
};

// Collective over comm, except where a rank finds an error that others do not.
Verdict try_call(const Call& call, Data data, const Edges& edges, MPI_Comm comm, int patience);

}  // namespace conformance
