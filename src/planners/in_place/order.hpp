// SPDX-License-Identifier: BSD-3-Clause
// In which order a rank swaps with the others in an in-place all-to-all exchange (Hofmann
// and Rünger 2013, sections 3.1 to 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tonari {

enum class SwapOrder : std::uint8_t { mpich, linear_shift, hierarchical_sets };

const char* name(SwapOrder order);  // "mpich-order", "linear-shift", "hierarchical-sets"
std::optional<SwapOrder> swap_order_named(std::string_view name);

// Whom `rank` swaps with, one after the other; the rank itself where the paper's order has it
// (mpich-order). node_of: a number per rank, equal on one node; only hierarchical sets use it.
// Empty: as in the paper, halves by rank alone. O(p), with nodes O(p log p).
//
// In every order a swap has a place in an order of all swaps of all ranks, and every rank makes its
// own in that order; no two swaps of one rank share a place. So nothing ever blocks: of the swaps
// that are not made yet, both partners of the first come to it next.
std::vector<std::int32_t> partners(SwapOrder order, std::int32_t rank, std::int32_t ranks,
                                   std::span<const std::int32_t> node_of = {});

}  // namespace tonari
