// SPDX-License-Identifier: BSD-3-Clause
#include "planners/registry.hpp"

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "base/split.hpp"

namespace tonari {

std::span<const AlgorithmRow> algorithms() {
  static const AlgorithmRow table[] = {
      {"linear", "", "every block straight to its target, blocks for one rank together",
       "Träff 2016, Listing 4", "the plain one; a message per block, where targets repeat",
       &offset_linear, &graph_linear},
      {"torus", "", "hops of length one along the dimensions", "Träff 2016, Algorithm 1", "",
       &offset_torus},
      {"torus-direct", "", "straight along each dimension in turn", "Träff 2016, section 5", "",
       &offset_torus_direct},
      {"additive-basis", "", "few lengths per dimension that add up to all coordinates",
       "Träff 2016, section 5", "by the number of rounds, as in 9 rounds", &offset_additive_basis},
      {"joint-basis", "", "few vectors that add up to all offsets, found by a bounded search",
       "Träff 2016, section 5", "", &offset_joint_basis},
      {"coloring", "colouring", "rounds in which no rank sends or receives twice",
       "Hoefler 2012, section II-A3", "rounds, order", nullptr, &graph_coloring},
      {"tree", "", "busy ranks hand messages to idle ones, trees for hot spots",
       "Hoefler 2012, section II-B", "paper, balanced", nullptr, &graph_tree},
      {"node-aware", "", "one message per pair of nodes, gathered and scattered inside",
       "Bienz 2019, Collom 2023", "three steps, two steps", nullptr, &graph_node_aware},
      {"common-neighborhood", "common-neighbourhood",
       "ranks with common targets share the sending, in pairs of pairs", "Ghazimirsaeed 2019",
       "pairs, groups of 4, of 8, and so on", nullptr, &graph_common_neighborhood},
      {"store-and-forward", "store-and-forward/dimsN, forward-N, topology:N",
       "along the dimensions of a virtual mesh, stage by stage", "Selvitopi 2019",
       "by the number of dimensions, as in store-and-forward/2", nullptr, &graph_store_and_forward},
      {"message-sharing", "",
       "busy ranks with common targets give each other messages, then hand messages over to those "
       "with few",
       "Duymuş 2021",
       "paper or levelled, alone, with phase II or with it in two steps; whole pattern, "
       "and by name its phase I: whole pattern phase I",
       nullptr, &graph_message_sharing},
      {"balanced", "",
       "ranks with common targets share messages, then ranks with common sources, in stages", "",
       "receivers, both ends, senders twice; whole pattern, whole pattern priced; by name 2 to 8 "
       "stages, perhaps with price X and words Y, or words Y alone",
       nullptr, &graph_balanced},
      {"mpich-order", "", "pairs of ranks swap in the order of their numbers",
       "Hofmann 2013, section 3.1", "", nullptr, nullptr, SwapOrder::mpich},
      {"linear-shift", "", "in step i those ranks swap whose numbers add up to i modulo P",
       "Hofmann 2013, section 3.2", "", nullptr, nullptr, SwapOrder::linear_shift},
      {"hierarchical-sets", "", "halves of the ranks swap with each other, then halves of these",
       "Hofmann 2013, section 3.3", "", nullptr, nullptr, SwapOrder::hierarchical_sets},
  };
  return table;
}

bool applies_to(const AlgorithmRow& row, AppliesTo what) {
  if (what == AppliesTo::in_place) return row.in_place.has_value();
  return what == AppliesTo::offsets ? row.offsets != nullptr : row.graphs != nullptr;
}

namespace {

bool begins_with(const std::string& word, const std::string& name) {
  return word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '/');
}

// "prefixN", where N is any number, is the variant N.
std::optional<std::string> renamed(const std::string& word, const char* name, std::string earlier) {
  if (!earlier.ends_with('N'))
    return begins_with(word, earlier) ? std::optional(name + word.substr(earlier.size()))
                                      : std::nullopt;
  earlier.pop_back();
  if (!word.starts_with(earlier)) return std::nullopt;
  const std::string rest = word.substr(earlier.size());
  const std::string number = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (number.empty() || !begins_with(rest, number)) return std::nullopt;
  return std::string(name) + "/" + rest;
}

}  // namespace

std::string current_name(const std::string& word, std::span<const AlgorithmRow> rows) {
  for (const AlgorithmRow& row : rows)
    if (*row.earlier)
      for (const std::string& earlier : split(row.earlier, ", "))
        if (const auto name = renamed(word, row.name, earlier)) return *name;
  return word;
}

std::vector<std::string> algorithm_names(AppliesTo what, std::span<const AlgorithmRow> rows) {
  std::vector<std::string> names;
  for (const AlgorithmRow& row : rows)
    if (applies_to(row, what)) names.emplace_back(row.name);
  return names;
}

const AlgorithmRow& find_algorithm(const std::string& name, AppliesTo what,
                                   std::span<const AlgorithmRow> rows) {
  const std::string current = current_name(name, rows);
  for (const AlgorithmRow& row : rows)
    if (applies_to(row, what) && current == row.name) return row;
  const std::vector<std::string> known = algorithm_names(what, rows);
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  fail(Errc::algorithm, "there is no algorithm '", name,
       what == AppliesTo::graphs ? "' for graphs" : "'", "; choose one of ", list,
       did_you_mean(name, known));
}

const OffsetPlanner& find_offset_planner(const std::string& name) {
  return *find_algorithm(name, AppliesTo::offsets).offsets;
}

const GraphPlanner& find_graph_planner(const std::string& name) {
  return *find_algorithm(name, AppliesTo::graphs).graphs;
}

}  // namespace tonari
