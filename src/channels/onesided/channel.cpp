// SPDX-License-Identifier: BSD-3-Clause
// The channel of windows.
#include <algorithm>
#include <cmath>

#include "channels/canary_detail.hpp"
#include "channels/connect.hpp"
#include "channels/onesided/options.hpp"
#include "channels/table.hpp"
#include "memory/available.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

constexpr const char* onesided = "onesided";
// Receivers tell a sender by a tree of this degree that they are ready; otherwise each tells it.
constexpr const char* ready_tree = "ready tree of ";
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
  return price(*offer.variant, offer.problem.sizes, offer.machine, {});
}

// Each incoming message has two places, whatever it is made of. An outgoing one is packed, unless
// its blocks are contiguous.
double scratch(const Variant& variant, const Problem& problem) {
  const bool in_place = !combines(variant) && problem.contiguous;
  return (in_place ? 2 : 3) * problem.sizes.average * static_cast<double>(variant.hops());
}

// The memory that the ranks of a node may take for windows. Windows that several ranks share are
// files, mostly in /dev/shm.
std::uint64_t room_for_windows(const Node& node) {
  const std::uint64_t memory = available_memory();
  return node.ranks().size() == 1 ? memory : std::min({memory, free_in("/dev/shm"), file_limit()});
}

// If no window can be made, or memory is too small, the channel is not used.
std::shared_ptr<Link> connect(Connecting& c) {
  OneSided::Options options = window_options(c.detail);
  options.free = room_for_windows(*c.on.node);
  options.node = c.on.node->ranks();
  c.on.agree(std::nullopt);  // from here on the channel agrees in its own way
  try {
    return OneSided::make(c.on.windows(), c.out, c.in, options);
  } catch (const Error& error) {
    if (error.code() != Errc::mpi) throw;
    c.refusal = error.what();
    return nullptr;
  }
}

}  // namespace

OneSided::Options window_options(const std::string& detail) {
  OneSided::Options options;
  if (const std::size_t degree = number_after(detail, ready_tree))
    options.ready = OneSided::Ready::tree, options.degree = static_cast<int>(degree);
  options.short_bytes = std::min(canary_of(detail, options.short_bytes), options.staged_bytes);
  return options;
}

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
                        .connect = connect};

}  // namespace tonari
