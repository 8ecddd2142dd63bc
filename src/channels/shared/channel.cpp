// SPDX-License-Identifier: BSD-3-Clause
// The channel of shared memory between ranks of a node.
#include <algorithm>

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

// The MPI carries what leaves the node.
double price(const Offer& offer, const std::string& detail) {
  LinkCosts links = links_of(offer, {});
  LinkCost memory = through_memory(offer.machine);
  if (has_word(detail, single_copy)) {
    // One end copies out of the other's memory, as the MPI does with long messages.
    const double byte = std::max(memory.machine.copy_byte, links.node.machine.G);
    memory.machine.o += links.node.machine.o;
    memory.machine.copy_byte = byte / 2;
    memory.machine.G = 0;
  }
  links.node = memory;
  if (links.node_of.empty()) links.network = memory;
  return price(*offer.variant, offer.problem.sizes, links);
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
