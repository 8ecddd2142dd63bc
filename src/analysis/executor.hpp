// SPDX-License-Identifier: BSD-3-Clause
// The reference executor: runs the plans of all ranks in one process over plain memory, and proves
// them.
//
// Together these make a plan correct for every timing and every MPI:
//   well-formed   every slice exists; every send meets exactly one recv of the same pair and tag,
//                 every exchange one exchange, block for block of equal size
//   no deadlock   even if every send is synchronous (starts of both sides are awaited before either
//                 completes; exchanges always are). The rules are monotone - nothing that could
//                 happen ever stops being possible - so one run that completes shows that every run
//                 completes
//   no races      two operations touch the same block, one of them writing, only if the DAG orders
//                 them; so every order gives the same result
//   clean memory  nothing is written to a send buffer; nothing is read before it was written
//   delivery      block i of rank R's receive buffer ends as what R's source i sent for it; other
//                 receive blocks are untouched
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace tonari {

// The task of a set of plans: where the content of every receive block comes from.
struct Delivery {
  struct Origin {
    // -1: this receive block must not be touched; in place: must end as it began
    std::int32_t rank = -1;
    // of that rank's send buffer; in place: what was in that block of its receive buffer at the
    // beginning
    std::uint32_t block = 0;
  };
  std::vector<std::vector<Origin>> expected;           // [rank][receive block]
  std::vector<std::vector<std::uint64_t>> send_bytes;  // [rank][send block]; all sizes may differ
  std::vector<std::vector<std::uint64_t>> recv_bytes;  // [rank][receive block]
  // receive blocks hold something from the beginning; there need be no send_bytes
  bool in_place = false;
};

struct Proof {
  bool ok = true;
  std::string what;  // the first thing that is wrong, naming rank, operation and block
  explicit operator bool() const { return ok; }
};

// Checks all five properties. It runs real bytes (a pattern that differs per rank, block and
// position) in an order drawn from seed.
Proof prove(std::span<const Plan> plans, const Delivery& delivery, std::uint64_t seed = 1);

}  // namespace tonari
