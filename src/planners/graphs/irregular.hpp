// SPDX-License-Identifier: BSD-3-Clause
// Where planners for irregular patterns may pay at all (Duymuş 2021, §1): a rank has far more
// messages than the average, and everybody waits for it.
#pragma once

#include <algorithm>
#include <string>

#include "planners/graphs/graph_planner.hpp"

namespace tonari {

// A message of the busiest rank, which sends or receives.
inline double message_time(const GraphTask& task) {
  return std::max(task.machine.o, task.machine.g);
}

// Empty if some rank has at least one and a half times the average number of messages, and passing
// on a block costs less than the message that it saves; else the reason why not.
inline std::string too_regular(const GraphFacts& facts, const GraphTask& task) {
  if (2 * facts.degree() * facts.ranks < 3 * facts.pairs || facts.pairs == 0)
    return "no rank has 1.5 times as many messages as the average";
  const bool alike = task.collective == Collective::alltoall && !facts.sized;
  if (alike && task.forwarding() >= message_time(task))
    return "blocks are so large that passing them on costs more than the overhead of a message";
  return "";
}

// Whether it pays to save so many messages by one more hop of the others: a latency, and the
// overheads of the message to the helper.
inline bool worth_a_hop(std::int64_t saved, const GraphTask& task) {
  return static_cast<double>(saved) * message_time(task) > task.machine.L + 2 * task.machine.o;
}

}  // namespace tonari
