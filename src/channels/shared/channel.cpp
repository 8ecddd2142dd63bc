// SPDX-License-Identifier: BSD-3-Clause
// The channel of shared memory between ranks of a node.
#include <limits>

#include "channels/canary_detail.hpp"
#include "channels/shared/connect.hpp"
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

std::string applicable(const Problem& problem, const Settings&) {
  return problem.shares_memory ? ""
                               : "no two ranks share a node: nothing goes through shared memory";
}

std::vector<std::string> details(const Offer& offer, bool) {
  if (!offer.problem.reads_memory || offer.settings.recv_view ||
      message_bytes(offer) < static_cast<double>(worth_single_copy))
    return {};
  return {single_copy};
}

// There is no matching, and one copy at each end, or a single one.
double price(const Offer& offer, const std::string& detail) {
  LogGP memory = offer.machine;
  memory.L = memory.shared_latency;
  memory.g = memory.G = memory.rendezvous = 0;
  memory.eager = std::numeric_limits<std::size_t>::max();
  memory.o = memory.shared_overhead;
  if (has_word(detail, single_copy)) memory.o += offer.machine.o, memory.copy_byte /= 2;
  return price(*offer.variant, offer.problem.sizes, memory, {false, 0, false});
}

}  // namespace

const Channel shared_memory{
    .name = "shared",
    .help = "shared memory between ranks of a node",
    .carries = Carries::node_messages,
    .applicable = applicable,
    .details = details,
    .asked = [](const Settings& settings) { return canary_detail(settings.canary); },
    .understands = [](const std::string& word) { return word == single_copy || is_canary(word); },
    .price = price,
    .connect = connect_shared};

}  // namespace tonari
