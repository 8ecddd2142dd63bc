// SPDX-License-Identifier: BSD-3-Clause
// Messages to any ranks, hop by hop on a virtual mesh of all ranks (topology/virtual_topology.hpp):
// few messages per rank, many bytes.
#pragma once

#include <functional>
#include <span>

#include "sparse/sparse_message.hpp"

namespace tonari {

// Collective, within a scope of the group, in which this rank has the number `rank`. Each hop is an
// exchange of the group. arrive: called for each message to this rank with its source, and with its
// length in bytes and its bytes as words.
void forward_by_hops(RankGroup& group, int rank, int dimensions,
                     std::span<const SparseMessage> messages,
                     const std::function<void(std::int32_t, std::span<const Word>)>& arrive);

}  // namespace tonari
