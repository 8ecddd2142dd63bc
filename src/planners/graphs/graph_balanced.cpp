// SPDX-License-Identifier: BSD-3-Clause
// balanced: this is message sharing at both ends, in several stages. It is ours. Ranks know of each
// other only what messages tell (graph_message_sharing.cpp).
//
//   stage 0           stage 1           last
//   a ══▶ b           b ══▶ h           h ──▶ t
//   senders share     receivers share
//
// First, senders with common targets share, so that each target gets fewer messages, too. Then
// receivers with common sources share, which is the same with all arrows turned round. Rank h takes
// what b has for t, and passes it on. Busy ranks of both kinds are relieved, as long as no other
// rank gets more work than they had.
//
// src/planners/patterns/balanced.hpp sees the whole pattern. It is the way "whole pattern", where
// that fits one rank (planning_root.hpp). It thins out the pattern's edges instead, in all stages
// at once. There each deletion asks for a way round through all ranks, which messages could only
// find one after the other. This planner reaches lower than one stop, at less volume than a mesh.
// It does not reach the mesh where patterns are dense. There all ranks have something to say to all
// neighbors of the mesh, and it is full.
//
// The ways differ in what a block may pass. Receivers share ("receivers"), senders share too ("both
// ends"), or senders share twice before ("senders twice"). What a rank still has for one target
// after a stage is one message again and can be shared again.
//
// Any other point of the front runs when it is asked for by name (balance_name.hpp): "3 stages", "5
// stages price 10", "words 1.25". It is planned at one root, too, and nothing else is. `auto` does
// not try them: they take several times as long to plan.
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "planners/graphs/irregular.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/graphs/shared_relays.hpp"
#include "planners/patterns/balance_name.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/within_words.hpp"

namespace tonari {
namespace {

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

std::string pays(const GraphFacts& facts, const GraphTask& task) {
  if (const std::string reason = too_regular(facts, task); !reason.empty()) return reason;
  if (facts.most_in < 2 || facts.most_out < 2)
    return "no two ranks have a target or a source in common";
  if (!worth_a_hop(facts.degree() / 2, task))
    return "half the messages of the busiest rank cost less than one more hop";
  return "";
}

std::vector<GraphVariant> one_point(BspComm& bsp, std::span<const Vertex> vertices,
                                    const GraphFacts& facts, const GraphTask& task) {
  const BalanceOptions options = balance_named(task.variant);
  const double word = root_words(priced_word_bytes, facts, task);
  if (const std::string reason = too_large_for_a_root(facts); !reason.empty())
    fail(Errc::algorithm, "balanced/", task.variant, " cannot be used here: ", reason);
  const RootPlanner point{task.variant, [options, word](const CommunicationMatrix& matrix) {
                            return front_point(matrix, options, word);
                          }};
  std::vector<GraphVariant> all;
  all.emplace_back(graph_balanced, task.variant, vertices, task,
                   std::move(plan_at_roots(bsp, vertices, facts, task, {&point, 1}).front()));
  return all;
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  if (names_a_balance(task.variant)) return one_point(bsp, vertices, facts, task);
  const Work work = all_work(task);
  std::vector<GraphVariant> all;
  SharedRelays senders(bsp, vertices, facts, task);
  for (const char* variant : {"receivers", "both ends", "senders twice"}) {
    if (!all.empty()) senders.senders_share(work);
    SharedRelays both = senders;
    both.receivers_share(work);
    all.emplace_back(graph_balanced, variant, vertices, task, both.deliver());
  }
  const bool named = task.variant.starts_with("whole pattern");
  if (!fits_a_root(facts, named ? Asked::by_name : Asked::along_with_others)) return all;
  std::vector<RootPlanner> planners;
  const auto add = [&](const char* variant, double price) {
    planners.push_back({variant, [price](const CommunicationMatrix& matrix) {
                          return balanced(matrix, {2, price});
                        }});
  };
  add("whole pattern", std::numeric_limits<double>::infinity());
  if (task.forwarding() > 0)
    add("whole pattern priced",
        root_words(message_time(task) / task.forwarding_byte(), facts, task));
  std::vector<std::vector<Relay>> relays = plan_at_roots(bsp, vertices, facts, task, planners);
  for (std::size_t j = 0; j < planners.size(); ++j)
    all.emplace_back(graph_balanced, planners[j].variant, vertices, task, std::move(relays[j]));
  return all;
}

}  // namespace

const GraphPlanner graph_balanced{"balanced", applicable, variants, pays};

}  // namespace tonari
