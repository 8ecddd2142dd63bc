// SPDX-License-Identifier: BSD-3-Clause
// Plans as schedules: messages, and calculations for what they copy.
//
//   send                 recv                  copy
//   calc (pack) ─ send   recv ─ calc (unpack)  calc
//
// Packing and unpacking take what src/cost/effort.hpp says; where they take nothing, they are left
// out. An empty message is not sent: a calculation that takes no time stands for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cost/effort.hpp"
#include "plan/variant.hpp"
#include "simulate/schedule.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari::sim {

// The plans of ranks 0, 1, 2, ...; bytes: one per plan. Throws Errc::internal if they do not match.
Schedule schedule_of(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                     const LogGP& machine);

// A variant by offsets. On a torus, where every rank has the same plan, it is made once.
Schedule schedule_of(const Variant& variant, const Grid& grid, std::uint64_t block_bytes,
                     const LogGP& machine);

// As MPI libraries do their neighborhood collectives: every rank posts all receives and then sends
// all blocks, a message each, in the order of its lists, also to itself.
Schedule native_schedule(const Neighborhood& near, std::uint64_t block_bytes);
Schedule native_schedule(std::span<const Vertex> vertices, std::uint64_t block_bytes);

}  // namespace tonari::sim
