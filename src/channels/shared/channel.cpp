// SPDX-License-Identifier: BSD-3-Clause
// The channel of shared memory between ranks of a node.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "channels/canary_detail.hpp"
#include "channels/control_messages.hpp"
#include "channels/shared/connect.hpp"
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

constexpr const char* single_copy = "single copy";  // long messages are read where they lie
// in bytes of a message: below, a system call costs more than a second copy
constexpr Bytes worth_single_copy = 16 * 1024;

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

// Agrees that all ranks have succeeded so far. Missing memory is a reason to do without; anything
// else is an error.
bool all_well(const ConnectComm& on, const std::optional<Error>& mine, std::string& refusal) {
  try {
    on.agree(mine);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    refusal = error.what();
    return false;
  }
}

std::shared_ptr<Link> connect(Connecting& c) {
  SharedLimits limits = shared_limits(c.detail);
  if (!c.on.reads_memory) limits.single_copy = 0;
  limits.views = c.views;
  return connect_segments(c.on, c.in, c.out, limits, c.refusal);
}

}  // namespace

SharedLimits shared_limits(const std::string& detail) {
  SharedLimits limits;
  if (has_word(detail, single_copy)) limits.single_copy = worth_single_copy;
  limits.canary = std::min(canary_of(detail, limits.canary), limits.whole);
  return limits;
}

std::shared_ptr<SharedLink> connect_segments(const ConnectComm& on,
                                             const std::vector<EdgeMessage>& in,
                                             const std::vector<EdgeMessage>& out,
                                             const SharedLimits& limits, std::string& refusal) {
  std::shared_ptr<SharedLink> link;
  std::optional<Error> error =
      error_of([&] { link = std::make_shared<SharedLink>(on.node, on.rank, in, out, limits); });
  // Tells every sender where its messages go. An empty name says that the rank made no inbox.
  const SegmentName mine = link ? link->segment() : SegmentName{};
  std::map<std::int32_t, SegmentName> theirs;
  ControlMessages names(on.comm, segment_names);
  for (const EdgeMessage& m : out)
    if (const auto [name, fresh] = theirs.try_emplace(m.peer); fresh)
      names.recv(std::span(&name->second, 1), m.peer);
  std::set<std::int32_t> senders;
  for (const EdgeMessage& m : in)
    if (senders.insert(m.peer).second) names.send(std::span(&mine, 1), m.peer);
  names.exchange([&] { on.agree(std::nullopt); });
  // A rank that finds that a receiver has made nothing lets that one say why.
  bool attached = false;
  if (!error) error = error_of([&] { attached = link->attach(theirs); });
  if (!all_well(on, error, refusal)) return nullptr;
  link->finish_attach();
  return attached ? link : nullptr;
}

const Channel shared_memory{
    .name = "shared",
    .help = "shared memory between ranks of a node",
    .carries = Carries::node_messages,
    .applicable = applicable,
    .details = details,
    .asked = [](const Settings& settings) { return canary_detail(settings.canary); },
    .understands = [](const std::string& word) { return word == single_copy || is_canary(word); },
    .price = price,
    .connect = connect};

}  // namespace tonari
