// SPDX-License-Identifier: BSD-3-Clause
// The channel of windows.
#include <algorithm>
#include <cmath>

#include "channels/canary_detail.hpp"
#include "channels/onesided/connect.hpp"
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

constexpr const char* onesided = "onesided";
constexpr int most_degree = 16;

std::string applicable(const Problem& problem, const Settings& settings) {
  const bool used = problem.several_nodes || asks_for(settings, onesided);
  return used ? "" : "all ranks share a node: windows are used only if they are asked for";
}

// Trees pay between nodes (Hoefler 2012, section II-C2), so they are offered beside shared memory
// if there is any.
std::vector<std::string> details(const Offer& offer, bool mixed) {
  if (offer.settings.ready) return {};
  const auto degree = static_cast<std::size_t>(
      std::clamp(std::lround(offer.machine.L / offer.machine.o), 2L, long{most_degree}));
  if (mixed != offer.problem.shares_memory || offer.variant->messages() <= 2 * degree) return {};
  return {ready_tree + std::to_string(degree)};
}

std::string asked(const Settings& settings) {
  const bool tree = settings.ready.value_or(0) > 0;
  return joined(tree ? ready_tree + std::to_string(*settings.ready) : "",
                canary_detail(settings.canary));
}

double price(const Offer& offer, const std::string&) {
  return price(*offer.variant, offer.problem.sizes, links_of(offer, {}));
}

// Each incoming message has two places, whatever it is made of. An outgoing one is packed, unless
// its blocks are contiguous.
double scratch(const Variant& variant, const Problem& problem) {
  const bool in_place = !combines(variant) && problem.contiguous;
  return (in_place ? 2 : 3) * problem.sizes.average * static_cast<double>(variant.hops());
}

}  // namespace

const Channel one_sided{.name = onesided,
                        .help = "windows that senders write to (MPI_Put)",
                        .carries = Carries::messages,
                        .expensive = true,
                        .applicable = applicable,
                        .details = details,
                        .asked = asked,
                        .understands =
                            [](const std::string& word) {
                              return number_after(word, ready_tree) > 0 || is_canary(word);
                            },
                        .price = price,
                        .scratch = scratch,
                        .connect = connect_windows};

}  // namespace tonari
