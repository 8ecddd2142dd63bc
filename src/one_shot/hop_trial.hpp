// SPDX-License-Identifier: BSD-3-Clause
// Times one-shot calls that combine against those that send straight, on blocks of its own.
#pragma once

#include "engine/comm/context.hpp"
#include "one_shot/hop_messages.hpp"

namespace tonari {

struct HopTrial {
  Bytes most = 0;  // combining was faster for blocks of up to `most` bytes; 0: for none
  bool steady = true;
};

// Collective, together on the context's communicator. longest: of blocks that can combine. The
// result is the same on all ranks.
HopTrial try_hops(Context& context, const std::shared_ptr<Streams>& streams,
                  const std::shared_ptr<const HopPlan>& plan, Bytes longest, double seconds,
                  WaitPolicy wait);

}  // namespace tonari
