#include "engine/wiring.hpp"

#include <algorithm>

#include "channels/onesided/link.hpp"
#include "channels/shared/link.hpp"
#include "engine/agree.hpp"
#include "engine/passing.hpp"
#include "engine/segments.hpp"
#include "memory/available.hpp"

namespace tonari {
namespace {

Bytes message_bytes(const Plan& plan, OpId op, const Binding& binding) {
  Bytes sum = 0;
  for (Slice s : plan.slices(op))
    sum = checked_add(sum, binding.bytes(s, plan.scratch_like()), "bytes of a message");
  return sum;
}

// Messages of this rank's plan that go one way, and which operations they are.
struct Messages {
  std::vector<EdgeMessage> in, out;
  std::vector<OpId> in_ops, out_ops;
  bool empty() const { return in.empty() && out.empty(); }
};

// Those to and from ranks for which `goes` holds.
template <typename Goes>
Messages messages_of(const Plan& plan, const Binding& binding, Goes goes) {
  Messages found;
  for (OpId op = 0; op < plan.size(); ++op) {
    const Operation& o = plan[op];
    if (o.kind == Kind::copy || o.peer == plan.rank() || !goes(o.peer)) continue;
    const EdgeMessage message{o.peer, o.tag, message_bytes(plan, op, binding)};
    if (message.bytes == 0) continue;
    (o.kind == Kind::send ? found.out : found.in).push_back(message);
    (o.kind == Kind::send ? found.out_ops : found.in_ops).push_back(op);
  }
  return found;
}

template <typename Channel>
void add_edges(Edges& edges, const std::shared_ptr<Link>& link, Channel& channel,
               const Messages& messages, std::size_t operations) {
  if (messages.empty()) return;
  edges.links.push_back(link);
  edges.in.resize(operations);
  edges.out.resize(operations);
  for (std::size_t k = 0; k < messages.in_ops.size(); ++k)
    edges.in[messages.in_ops[k]] = &channel.in(k);
  for (std::size_t k = 0; k < messages.out_ops.size(); ++k)
    edges.out[messages.out_ops[k]] = &channel.out(k);
}

SharedLimits limits_of(const Context& context, const Candidate& candidate,
                       const Settings& settings) {
  SharedLimits limits;
  if (candidate.channel.single_copy && context.reads_memory())
    limits.single_copy = worth_single_copy;
  limits.views = settings.recv_view;
  return limits;
}

void connect_shared(Context& context, const Candidate& candidate, const Settings& settings,
                    const Messages& messages, Wiring& wiring) {
  const std::shared_ptr<SharedLink> link = connect_segments(
      context, messages.in, messages.out, limits_of(context, candidate, settings), wiring.refusal);
  if (link) add_edges(wiring.edges, link, *link, messages, wiring.plan->size());
}

// What the ranks of a node may take for windows. Those that several ranks share are files, mostly
// in /dev/shm.
std::uint64_t room_for_windows(const Node& node) {
  const std::uint64_t memory = available_memory();
  return node.ranks().size() == 1 ? memory : std::min({memory, free_in("/dev/shm"), file_limit()});
}

// Through windows; that none can be made, or that they do not fit into memory, is a reason to do
// without.
void connect_one_sided(Context& context, const Candidate& candidate, const Messages& messages,
                       Wiring& wiring) {
  OneSided::Options options;
  if (candidate.channel.ready_degree > 0)
    options.ready = OneSided::Ready::tree, options.degree = candidate.channel.ready_degree;
  options.free = room_for_windows(*context.node());
  options.node = context.node()->ranks();
  stay_together(context.comm());  // what follows agrees in the manner of the channels
  try {
    const std::shared_ptr<OneSided> link =
        OneSided::make(context.shared().windows(), messages.out, messages.in, options);
    add_edges(wiring.edges, link, *link, messages, wiring.plan->size());
  } catch (const Error& error) {
    if (error.code() != Errc::mpi) throw;
    wiring.refusal = error.what();
  }
}

// MPI's own collectives need a communicator, of which there may be none left.
Wiring wire_native(Context& context, Purpose purpose) {
  Wiring wiring;
  try {
    wiring.graph =
        purpose == Purpose::trial ? context.graph_for_trial() : context.graph_for_request();
  } catch (const Error& error) {
    if (error.code() != Errc::mpi) throw;
    wiring.refusal = error.what();
  }
  return wiring;
}

}  // namespace

Wiring wire(Context& context, const Candidate& candidate, const Settings& settings,
            const Binding& binding, Purpose purpose) {
  if (!candidate.planned) return wire_native(context, purpose);
  Wiring wiring;
  const ChannelChoice& channel = candidate.channel;
  if (!channel.shares() && !channel.one_sided()) return wiring;
  const Node& node = *context.node();
  Messages shared, one_sided;
  Binding bound = binding;
  if (candidate.passing) bound.passing = *candidate.passing;
  wiring.plan = plan_of(candidate, settings, context.rank());
  if (channel.shares())
    shared = messages_of(*wiring.plan, bound, [&](int peer) { return node.here(peer); });
  if (channel.one_sided())
    one_sided = messages_of(*wiring.plan, bound,
                            [&](int peer) { return !channel.shares() || !node.here(peer); });
  if (channel.shares()) connect_shared(context, candidate, settings, shared, wiring);
  if (channel.one_sided() && wiring.refusal.empty())
    connect_one_sided(context, candidate, one_sided, wiring);
  if (!wiring.refusal.empty()) wiring.edges = {};
  return wiring;
}

}  // namespace tonari
