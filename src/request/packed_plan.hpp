// SPDX-License-Identifier: BSD-3-Clause
// A plan as messages of a packed exchange: each block that a message takes along is gathered from
// the program's memory, or from where it arrived, into memory of the rank that gets it. Nothing is
// copied on the way, and a step of the plan is one launch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "packing/packed_exchange.hpp"
#include "plan/origins.hpp"

namespace tonari {

// The step of each tag: one more than those of all that its messages pass on, on any rank.
struct PlanSteps {
  std::vector<std::int32_t> of_tag;
  std::int32_t count() const;
};
// Collective, together. tags: as Variant::tags; orders: on this rank. Throws Errc::argument on all
// ranks where messages of one tag pass on what others of it have brought.
PlanSteps steps_of(const Context& context, std::size_t tags, std::span<const TagOrder> orders);

struct PackedMessages {
  std::vector<PackedMessage> in, out;
};
// Local. Both ends of a message see the same blocks in it, and leave out empty ones.
PackedMessages packed_messages(const Plan& plan, const PlanSteps& steps, const Binding& binding);

// What the program has of a block.
PackedMessage packed_message(std::int32_t peer, std::int32_t tag, const Block& block);

}  // namespace tonari
