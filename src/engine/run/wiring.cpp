// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/wiring.hpp"

#include <algorithm>

#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

Bytes message_bytes(const Plan& plan, OpId op, const Binding& binding) {
  Bytes sum = 0;
  for (Slice s : plan.slices(op))
    sum = checked_add(sum, binding.bytes(s, plan.scratch_like()), "bytes of a message");
  return sum;
}

// Connects the messages of one plan, each by the first channel that carries it.
class Connector {
 public:
  Connector(const ConnectComm& on, bool views, const Candidate& candidate, Wiring& wiring)
      : on_(on), views_(views), parts_(candidate.channel.edges), wiring_(wiring) {
    wiring.edges.in.resize(wiring.plan->size());
    wiring.edges.out.resize(wiring.plan->size());
    taken_.resize(wiring.plan->size());
  }

  // The channel that comes next; null after the last, and after one that cannot be used.
  const Channel* next() const {
    return done_ < parts_.size() && wiring_.refusal.empty() ? parts_[done_].row : nullptr;
  }

  // The remaining messages that it carries.
  Connecting ask() {
    Connecting given{on_, parts_[done_].detail, views_, {}, {}};
    in_.clear(), out_.clear();
    for (OpId op = 0; op < wiring_.plan->size(); ++op) {
      if (taken_[op] || !carries(*next(), (*wiring_.plan)[op])) continue;
      taken_[op] = true;
      const Operation& o = (*wiring_.plan)[op];
      const EdgeMessage message{o.peer, o.tag, message_bytes(*wiring_.plan, op, wiring_.binding)};
      if (message.bytes == 0) continue;
      (o.kind == Kind::send ? given.out : given.in).push_back(message);
      (o.kind == Kind::send ? out_ : in_).push_back(op);
    }
    return given;
  }

  void take(const Connecting& connected) {
    const Channel& row = *parts_[done_++].row;
    wiring_.refusal = connected.refusal;
    if (!wiring_.refusal.empty()) wiring_.edges = {};
    const std::shared_ptr<Link>& link = connected.link;
    if (!link || (in_.empty() && out_.empty())) return;
    link->channel = row.name;
    wiring_.edges.links.push_back(link);
    for (std::size_t k = 0; k < in_.size(); ++k) wiring_.edges.in[in_[k]] = &link->in(k);
    for (std::size_t k = 0; k < out_.size(); ++k) wiring_.edges.out[out_[k]] = &link->out(k);
  }

 private:
  bool carries(const Channel& row, const Operation& o) const {
    return o.kind != Kind::copy && o.peer != on_.rank &&
           (row.carries == Carries::messages || on_.node->here(o.peer));
  }

  const ConnectComm& on_;
  bool views_;
  std::span<const ChannelChoice::Part> parts_;
  std::size_t done_ = 0;  // of them
  Wiring& wiring_;
  std::vector<bool> taken_;     // by an earlier channel
  std::vector<OpId> in_, out_;  // that the last question was about
};

// Collective: ranks meet for each channel, not for each plan.
void connect(std::span<Connector> all) {
  const auto next_of_all = [&] {
    const auto any = std::ranges::find_if(all, &Connector::next);
    return any == all.end() ? nullptr : any->next();
  };
  while (const Channel* row = next_of_all()) {
    std::vector<Connector*> asking;
    std::vector<Connecting> plans;
    for (Connector& connector : all) {
      if (connector.next() != row) continue;
      plans.push_back(connector.ask());
      asking.push_back(&connector);
    }
    row->connect(plans);
    for (std::size_t k = 0; k < plans.size(); ++k) asking[k]->take(plans[k]);
  }
}

// MPI's own collectives need a communicator, and there may be none left.
Wiring wire_native(Context& context, Purpose purpose) {
  Wiring wiring;
  try {
    wiring.graph = purpose == Purpose::trial  ? context.graph_for_trial()
                   : purpose == Purpose::race ? context.graph_of_its_own()
                                              : context.graph_for_request();
  } catch (const Error& error) {
    if (error.code() != Errc::mpi) throw;
    wiring.refusal = error.what();
  }
  return wiring;
}

Wiring bind_plan(Context& context, const Candidate& candidate, const Settings& settings,
                 const Binding& binding) {
  Wiring wiring;
  // Blocks may alternate between receive blocks and scratch only if all that share a place have one
  // size.
  const Storage storage =
      candidate.forwarded ? Storage::separate : candidate.channel.base.row->storage;
  wiring.plan = candidate.planned->plan(context.rank(), {storage, settings.ports});
  wiring.binding = binding;
  if (candidate.forwarded) wiring.binding.forwarded = *candidate.forwarded;
  return wiring;
}

}  // namespace

ConnectComm connect_comm(Context& context) {
  return context.shared().connect_comm(context.nodes());
}

std::vector<Wiring> wire(Context& context, std::span<const Candidate> candidates,
                         const Settings& settings, const Binding& binding, Purpose purpose) {
  std::vector<Wiring> wirings;
  for (const Candidate& candidate : candidates)
    wirings.push_back(candidate.planned ? bind_plan(context, candidate, settings, binding)
                                        : wire_native(context, purpose));
  const auto has_edges = [](const Candidate& c) { return c.planned && !c.channel.edges.empty(); };
  if (std::ranges::none_of(candidates, has_edges)) return wirings;
  const ConnectComm on = connect_comm(context);
  std::vector<Connector> connectors;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (has_edges(candidates[c]))
      connectors.emplace_back(on, settings.recv_view, candidates[c], wirings[c]);
  connect(connectors);
  return wirings;
}

Wiring wire(Context& context, const Candidate& candidate, const Settings& settings,
            const Binding& binding, Purpose purpose) {
  return std::move(wire(context, {&candidate, 1}, settings, binding, purpose).front());
}

}  // namespace tonari
