// SPDX-License-Identifier: BSD-3-Clause
// Both ends of every edge have to know of it: what one rank lists as a destination the other must
// list as a source, as often and with as many bytes.
//
// Both functions are collective and return the error of the lowest rank here that found one,
// nothing if all is well here. The caller makes the ranks agree (engine/wait/agree.hpp); until then
// the others do not know.
#pragma once

#include <optional>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "planners/graphs/bsp_comm.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// Finds out the origins. With duplicate edges the k-th block that a rank sends to another is the
// k-th that this one receives from it (MPI 4.1, §8.6). Origins that are there already are kept and
// checked; for sources of -1 they are 0. Errors: a rank out of range; lists that do not mirror each
// other, which the receiver finds.
std::optional<Error> mirror(BspComm& bsp, std::span<Vertex> vertices);

struct BlockSizes {
  std::vector<Bytes> send, recv;  // of each block; an allgather has one to send
};

// vertices: with origins. The receiver finds what differs.
std::optional<Error> compare_sizes(BspComm& bsp, std::span<const Vertex> vertices,
                                   Collective collective, std::span<const BlockSizes> sizes);

}  // namespace tonari
