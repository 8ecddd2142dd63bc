#include "engine/wiring.hpp"

#include "channels/mpi_error.hpp"
#include "channels/shared.hpp"
#include "engine/agree.hpp"
#include "engine/passing.hpp"

namespace tonari {
namespace {

Bytes message_bytes(const Plan& plan, OpId op, const Binding& binding) {
  Bytes sum = 0;
  for (Slice s : plan.slices(op)) sum += binding.bytes(s, plan.scratch_like());
  return sum;
}

// The messages of this rank's plan that stay on the node, and which operations they are.
struct OnNode {
  std::vector<SharedMessage> in, out;
  std::vector<OpId> in_ops, out_ops;

  OnNode(const Plan& plan, const Binding& binding, const Node& node) {
    for (OpId op = 0; op < plan.size(); ++op) {
      const Operation& o = plan[op];
      if (o.kind == Kind::copy || o.peer == plan.rank() || !node.here(o.peer)) continue;
      const SharedMessage message{o.peer, o.tag, message_bytes(plan, op, binding)};
      if (message.bytes == 0) continue;
      (o.kind == Kind::send ? out : in).push_back(message);
      (o.kind == Kind::send ? out_ops : in_ops).push_back(op);
    }
  }
};

Edges edges_of(const std::shared_ptr<SharedLink>& link, const OnNode& messages, std::size_t operations) {
  Edges edges;
  if (messages.in.empty() && messages.out.empty()) return edges;
  edges.links.push_back(link);
  edges.in.resize(operations);
  edges.out.resize(operations);
  for (std::size_t k = 0; k < messages.in_ops.size(); ++k) edges.in[messages.in_ops[k]] = &link->in(k);
  for (std::size_t k = 0; k < messages.out_ops.size(); ++k) edges.out[messages.out_ops[k]] = &link->out(k);
  return edges;
}

SharedLimits limits_of(const Candidate& candidate, const Settings& settings) {
  SharedLimits limits;
  limits.single_copy = candidate.channel.single_copy;
  limits.views = settings.recv_view;
  return limits;
}

// Whether all ranks have come so far. Memory that cannot be had is a reason to do without; anything else is an error.
bool all_well(Context& context, const std::optional<Error>& mine, std::string& refusal) {
  try {
    agree(context.comm(), mine);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    refusal = error.what();
    return false;
  }
}

}  // namespace

Wiring wire(Context& context, const Candidate& candidate, const Settings& settings, const Binding& binding) {
  Wiring wiring;
  if (candidate.channel.via != Via::shared) return wiring;
  const Node& node = *context.node();
  std::shared_ptr<SharedLink> link;
  std::optional<OnNode> messages;
  std::vector<SegmentName> names(node.ranks().size());
  std::optional<Error> error = caught([&] {
    Binding bound = binding;
    if (candidate.passing) bound.passing = *candidate.passing;
    wiring.plan = plan_of(candidate, settings, context.rank());
    messages.emplace(*wiring.plan, bound, node);
    link = std::make_shared<SharedLink>(context.node(), context.rank(), messages->in, messages->out, limits_of(candidate, settings));
  });
  const SegmentName mine = link ? link->name() : SegmentName{};
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, names.data(), sizeof mine, MPI_BYTE, node.comm()), "MPI_Allgather");
  // Who finds that a receiver has made nothing leaves it to that rank to say why.
  bool attached = false;
  if (!error) error = caught([&] { attached = link->attach(names); });
  if (attached) wiring.edges = edges_of(link, *messages, wiring.plan->size());
  if (!all_well(context, error, wiring.refusal)) wiring.edges = {};
  if (link) link->close_door();
  return wiring;
}

}  // namespace tonari
