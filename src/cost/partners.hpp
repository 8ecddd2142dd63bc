// SPDX-License-Identifier: BSD-3-Clause
// Which send of some plans meets which receive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace tonari {

inline constexpr std::uint32_t no_partner = ~0u;

// By operation of all plans, one plan after the other: the operation at the other end of its
// message, or no_partner. `bytes` are those of the operations' messages: empty ones are not sent.
// Of several messages between two ranks with one tag, the first send meets the first receive, as in
// MPI. A single plan stands for all: what it receives with a tag is what it sends with that tag, if
// it sends that. Throws Errc::internal if plans do not match.
std::vector<std::uint32_t> partners(std::span<const Plan> plans,
                                    std::span<const std::uint64_t> bytes);

}  // namespace tonari
