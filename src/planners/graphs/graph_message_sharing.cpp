// SPDX-License-Identifier: BSD-3-Clause
// message-sharing, Phase I: busy ranks with common targets give each other messages, and every
// block has one stop at most (Duymuş 2021, Algorithms 1 to 3). No rank knows the whole pattern.
// Targets name their senders to each other (friends.hpp), and many pairs share at a time
// (pairings.hpp). Two ranks work out what they make of it from what the two of them send
// (send_set.hpp).
//
//   P_max ──▶ t              P_max ══▶ P_friend ──▶ t
//   P_friend ──▶ t  becomes
//
// Stage 0 carries delegated blocks (══▶), and what is for the helpers themselves. Stage 1 carries
// all the rest (──▶).
//
// This differs from the central algorithm (patterns/message_sharing.hpp) for these reasons:
//   At once     All ranks that have three quarters of the most messages share at once, not one
//               bottleneck at a time. Otherwise each pairing would cost a reduction over all ranks.
//   Friends     Targets with many senders name a sample, so how much two ranks share is an
//               estimate; the pairing itself knows exactly. A rank has 64 friends at most. A friend
//               that is taken in this round is not waited for.
//   Giving up   A rank gives up after 4 pairings in vain, not after the first: the best friend is
//               only an estimate's.
//   Stages      There are two stages, so that no messages wait for each other in a circle. A rank
//               may be both a helper and a target of forwarded blocks. It gets two messages from
//               the same sender, which count as two. The central algorithm joins them where it can.
//   Taken back  A block for a target that becomes a helper of its origin goes there directly, with
//               the others.
//
// Phase II, in one step or two, follows as further stages (distributed_second_phase.hpp).
//
// There are three ways. "paper": messages sent are all that counts, so a helper may receive from
// all ranks and pass on thousands of blocks. "levelled", which is ours: a pairing may lift no rank
// to the work of the busier of the two. There, work is messages sent and received and blocks passed
// on, as LogGP prices them. Cases 2 to 4, which add to the work of a third rank, are left out
// there. "whole pattern": this is the central algorithm, both phases, where the pattern fits one
// rank (planning_root.hpp). "whole pattern phase I" is its first phase alone, when it is named.
#include "planners/graphs/irregular.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/graphs/shared_relays.hpp"
#include "planners/patterns/message_sharing.hpp"

namespace tonari {
namespace {

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

// At best a pairing halves the busiest rank's messages, for one more hop.
std::string pays(const GraphFacts& facts, const GraphTask& task) {
  if (const std::string reason = too_regular(facts, task); !reason.empty()) return reason;
  if (facts.most_in < 2) return "no two ranks have a target in common";
  if (!worth_a_hop(facts.most_out / 2, task))
    return "half the messages of the busiest rank cost less than one more hop";
  return "";
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  const SharedRelays direct(bsp, vertices, facts, task);
  std::vector<GraphVariant> all;
  const auto add = [&](std::string variant, std::vector<Relay> relays) {
    all.emplace_back(graph_message_sharing, std::move(variant), vertices, task, std::move(relays));
  };
  for (const auto& [variant, work] :
       {std::pair("paper", Work{}), std::pair("levelled", all_work(task))}) {
    SharedRelays sharing = direct;
    sharing.senders_share(work);
    add(variant, sharing.deliver());
    SharedRelays twice = sharing;
    sharing.messages_move(work);
    add(std::string(variant) + " phase II", sharing.deliver());
    twice.messages_move(work, 2);
    twice.messages_move(work, 1);
    add(std::string(variant) + " phase II in two steps", twice.deliver());
  }
  const bool named = task.variant.starts_with("whole pattern");
  if (!fits_a_root(facts, named ? Asked::by_name : Asked::along_with_others)) return all;
  const bool first_phase = task.variant == "whole pattern phase I";
  const RootPlanner central{first_phase ? task.variant : "whole pattern",
                            [phases = first_phase ? 1 : 2](const CommunicationMatrix& matrix) {
                              return combine(matrix, share_messages(matrix, phases));
                            }};
  add(central.variant, std::move(plan_at_roots(bsp, vertices, facts, task, {&central, 1}).front()));
  return all;
}

}  // namespace

const GraphPlanner graph_message_sharing{"message-sharing", applicable, variants, pays};

}  // namespace tonari
