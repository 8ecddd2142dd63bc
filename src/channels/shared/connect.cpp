// SPDX-License-Identifier: BSD-3-Clause
#include "channels/shared/connect.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "channels/canary_detail.hpp"
#include "channels/control_messages.hpp"

namespace tonari {

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
  if (!all_have_memory(on, error, refusal)) return nullptr;
  link->finish_attach();
  return attached ? link : nullptr;
}

std::shared_ptr<Link> connect_shared(Connecting& given) {
  SharedLimits limits = shared_limits(given.detail);
  if (!given.on.reads_memory) limits.single_copy = 0;
  limits.views = given.views;
  return connect_segments(given.on, given.in, given.out, limits, given.refusal);
}

}  // namespace tonari
