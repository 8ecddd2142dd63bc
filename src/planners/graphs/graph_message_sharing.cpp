// message-sharing, Phase I: busy ranks with common targets give each other messages, and every
// block has one stop at most (Duymuş 2021, Algorithms 1 to 3), without anybody
// knowing the whole pattern: targets name their senders to each other (friends.hpp), many pairs
// share at a time (pairings.hpp), and what two ranks make of it they work out from what the two of
// them send (send_set.hpp).
//
//   P_max ──▶ t              P_max ══▶ P_friend ──▶ t         stage 0: delegated blocks, and what is for the helpers themselves
//   P_friend ──▶ t  becomes                                   stage 1: all the rest
//
// Where this differs from the central algorithm (sharing/message_sharing.hpp), and why:
//   At once    Not one bottleneck at a time: all that have three quarters of the most messages, or one pairing would cost a reduction over all ranks each.
//   Friends    Targets with many senders name a sample, so how much two ranks share is an estimate; the pairing itself knows exactly. 64 friends at most. A friend
//              that is taken in this round is not waited for.
//   Giving up  After 4 pairings in vain, not after the first: the best friend is only an estimate's.
//   Stages     Two of them, so that no messages wait for each other in a circle; a rank that is a helper and a target of forwarded blocks gets two messages
//              from the same sender, which count as two. The central algorithm joins them where it can.
//   Taken back A block for a target that becomes a helper of its origin goes there directly, with the others.
//
// Phase II, in one step or two, follows as further stages: second_phase.hpp.
//
// Ways. "paper": messages sent are all that counts, so a helper may receive from everybody and pass
// on thousands of blocks. "levelled", ours: a pairing may lift nobody to the work of the busier of
// the two, where work is messages sent and received and blocks passed on, as LogGP prices them.
// Cases 2 to 4, which add to the work of a third rank, are left out there. "whole pattern": the
// central algorithm, both phases, where the pattern fits one rank (planning_root.hpp).
#include "planners/graphs/irregular.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/graphs/shared_relays.hpp"
#include "planners/patterns/message_sharing.hpp"

namespace tonari {
namespace {

// At best a pairing halves the busiest rank's messages, for one more hop.
std::string applicable(const GraphFacts& facts, const GraphTask& task) {
  if (const std::string reason = too_regular(facts, task); !reason.empty()) return reason;
  if (facts.most_in < 2) return "no two ranks have a target in common";
  if (!worth_a_hop(facts.most_out / 2, task))
    return "half the messages of the busiest rank cost less than one more hop";
  return "";
}

std::vector<GraphVariant> variants(RankGroup& group, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  const SharedRelays direct(group, vertices, facts, task);
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
  if (!fits_a_root(facts)) return all;
  const RootPlanner central{"whole pattern", [](const CommunicationMatrix& matrix) {
                              return combine(matrix, share_messages(matrix, 2));
                            }};
  add(central.variant,
      std::move(plan_at_roots(group, vertices, facts, task, {&central, 1}).front()));
  return all;
}

}  // namespace

const GraphPlanner graph_message_sharing{"message-sharing", applicable, variants};

}  // namespace tonari
