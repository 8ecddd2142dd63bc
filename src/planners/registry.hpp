// SPDX-License-Identifier: BSD-3-Clause
// The one table of algorithms: what they are called, do, come from and apply to, and what plans
// them. Whoever accepts, lists or documents names of algorithms takes them from here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planners/graphs/graph_planner.hpp"
#include "planners/in_place/order.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {

struct AlgorithmRow {
  const char* name;
  const char* earlier;   // names that stay accepted, separated by commas; N stands
                         // for any number, which is today's variant; empty: none
  const char* summary;   // one line of what it does
  const char* paper;     // author, year and place, as in docs/papers.bib; empty: ours
  const char* variants;  // one line of what they are; empty: there is one, without a name
  const OffsetPlanner* offsets = nullptr;  // null: it is not for offsets
  const GraphPlanner* graphs = nullptr;    // null: it is not for graphs
  std::optional<SwapOrder> in_place = {};  // none: it is no order of swaps
};

// The kinds of exchange that an algorithm applies to.
enum class AppliesTo : std::uint8_t { offsets, graphs, in_place };

std::span<const AlgorithmRow> algorithms();
bool applies_to(const AlgorithmRow& row, AppliesTo what);

// `word` is a name of an algorithm, perhaps with a variant and more behind slashes. An earlier name
// at its front is replaced by the one of today; anything else stays as it is.
std::string current_name(const std::string& word,
                         std::span<const AlgorithmRow> rows = algorithms());

// In the order of the table.
std::vector<std::string> algorithm_names(AppliesTo what,
                                         std::span<const AlgorithmRow> rows = algorithms());

// These accept earlier names, too. They throw Errc::algorithm with the names that apply and the
// nearest of them.
const AlgorithmRow& find_algorithm(const std::string& name, AppliesTo what,
                                   std::span<const AlgorithmRow> rows = algorithms());
const OffsetPlanner& find_offset_planner(const std::string& name);
const GraphPlanner& find_graph_planner(const std::string& name);

}  // namespace tonari
