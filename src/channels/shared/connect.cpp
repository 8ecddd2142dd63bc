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

namespace {

using SegmentNames = std::map<std::int32_t, std::vector<SegmentName>>;  // by rank

SegmentName name_of(const SharedMessages& plan) {
  return plan.link ? plan.link->segment() : SegmentName{};
}

std::set<std::int32_t> peers(const std::vector<EdgeMessage>& messages) {
  std::set<std::int32_t> all;
  for (const EdgeMessage& m : messages) all.insert(m.peer);
  return all;
}

// Collective. Tells every sender where its messages go, plan by plan; a rank gets names of those
// plans in which it sends to the other. An empty name says that the receiver made no inbox.
SegmentNames exchange_names(const ConnectComm& on, std::span<const SharedMessages> plans) {
  SegmentNames mine, theirs;
  for (const SharedMessages& plan : plans) {
    for (std::int32_t sender : peers(plan.in)) mine[sender].push_back(name_of(plan));
    for (std::int32_t receiver : peers(plan.out)) theirs[receiver].emplace_back();
  }
  ControlMessages names(on.comm, segment_names);
  for (auto& [receiver, segments] : theirs) names.recv(segments, receiver);
  for (const auto& [sender, segments] : mine) names.send(segments, sender);
  names.exchange([&] { on.agree(std::nullopt); });
  return theirs;
}

// Tells whether all receivers have made what this rank sends to.
bool attach(std::span<SharedMessages> plans, const SegmentNames& theirs) {
  std::map<std::int32_t, std::size_t> read;  // names of a receiver
  bool all = true;
  for (SharedMessages& plan : plans) {
    std::map<std::int32_t, SegmentName> names;
    for (std::int32_t receiver : peers(plan.out))
      names[receiver] = theirs.at(receiver)[read[receiver]++];
    all = plan.link && plan.link->attach(names) && all;
  }
  return all;
}

SharedLimits limits_of(const Connecting& given) {
  SharedLimits limits = shared_limits(given.detail);
  if (!given.on.reads_memory) limits.single_copy = 0;
  limits.views = given.views;
  return limits;
}

// Collective. False if memory does not suffice for all of them.
bool connect_together(std::span<Connecting> plans) {
  std::vector<SharedMessages> messages;
  for (const Connecting& given : plans) messages.push_back({given.in, given.out, limits_of(given)});
  std::string refusal;
  const bool connected = connect_segments(plans.front().on, messages, refusal);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    plans[k].link = messages[k].link;
    plans[k].refusal = refusal;
  }
  return connected;
}

}  // namespace

bool connect_segments(const ConnectComm& on, std::span<SharedMessages> plans,
                      std::string& refusal) {
  std::optional<Error> error = error_of([&] {
    for (SharedMessages& plan : plans)
      plan.link = std::make_shared<SharedLink>(on.node, on.rank, plan.in, plan.out, plan.limits);
  });
  const SegmentNames theirs = exchange_names(on, plans);
  // A rank that finds that a receiver has made nothing lets that one say why.
  bool attached = false;
  if (!error) error = error_of([&] { attached = attach(plans, theirs); });
  const bool connected = all_have_memory(on, error, refusal) && attached;
  for (SharedMessages& plan : plans) {
    if (!connected) plan.link.reset();
    if (plan.link) plan.link->finish_attach();
  }
  return connected;
}

void connect_shared(std::span<Connecting> plans) {
  if (connect_together(plans) || plans.size() == 1) return;
  for (Connecting& given : plans) connect_together({&given, 1});
}

}  // namespace tonari
