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
  Connector(const ConnectComm& on, bool views, Wiring& wiring)
      : on_(on), views_(views), wiring_(wiring) {
    wiring.edges.in.resize(wiring.plan->size());
    wiring.edges.out.resize(wiring.plan->size());
    taken_.resize(wiring.plan->size());
  }

  // Collective. Connects the remaining messages that the channel carries.
  void connect(const ChannelChoice::Part& part) {
    Connecting given{on_, part.detail, views_, {}, {}};
    std::vector<OpId> in, out;
    for (OpId op = 0; op < wiring_.plan->size(); ++op) {
      if (taken_[op] || !carries(*part.row, (*wiring_.plan)[op])) continue;
      taken_[op] = true;
      const Operation& o = (*wiring_.plan)[op];
      const EdgeMessage message{o.peer, o.tag, message_bytes(*wiring_.plan, op, wiring_.binding)};
      if (message.bytes == 0) continue;
      (o.kind == Kind::send ? given.out : given.in).push_back(message);
      (o.kind == Kind::send ? out : in).push_back(op);
    }
    const std::shared_ptr<Link> link = part.row->connect(given);
    wiring_.refusal = given.refusal;
    if (!link || (in.empty() && out.empty())) return;
    link->channel = part.row->name;
    wiring_.edges.links.push_back(link);
    for (std::size_t k = 0; k < in.size(); ++k) wiring_.edges.in[in[k]] = &link->in(k);
    for (std::size_t k = 0; k < out.size(); ++k) wiring_.edges.out[out[k]] = &link->out(k);
  }

 private:
  bool carries(const Channel& row, const Operation& o) const {
    return o.kind != Kind::copy && o.peer != on_.rank &&
           (row.carries == Carries::messages || on_.node->here(o.peer));
  }

  const ConnectComm& on_;
  bool views_;
  Wiring& wiring_;
  std::vector<bool> taken_;  // by an earlier channel
};

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

}  // namespace

ConnectComm connect_comm(Context& context) {
  return context.shared().connect_comm(context.nodes());
}

Wiring wire(Context& context, const Candidate& candidate, const Settings& settings,
            const Binding& binding, Purpose purpose) {
  if (!candidate.planned) return wire_native(context, purpose);
  Wiring wiring;
  // Blocks may alternate between receive blocks and scratch only if all that share a place have one
  // size.
  const Storage storage =
      candidate.forwarded ? Storage::separate : candidate.channel.base.row->storage;
  wiring.plan = candidate.planned->plan(context.rank(), {storage, settings.ports});
  wiring.binding = binding;
  if (candidate.forwarded) wiring.binding.forwarded = *candidate.forwarded;
  if (candidate.channel.edges.empty()) return wiring;
  const ConnectComm on = connect_comm(context);
  Connector connector(on, settings.recv_view, wiring);
  for (const ChannelChoice::Part& part : candidate.channel.edges)
    if (wiring.refusal.empty()) connector.connect(part);
  if (!wiring.refusal.empty()) wiring.edges = {};
  return wiring;
}

}  // namespace tonari
