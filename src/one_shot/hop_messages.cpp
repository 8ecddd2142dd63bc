// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/hop_messages.hpp"

#include <algorithm>
#include <utility>

namespace tonari {
namespace {

std::uint32_t stream_to(const Streams& streams, std::int32_t peer) {
  for (std::size_t k = 0; k < streams.size(); ++k)
    if (streams[k].edges.rank == peer) return static_cast<std::uint32_t>(k);
  fail(Errc::internal, "a message of a plan for one-shot calls goes to rank ", peer,
       ", to which no edge leads");
}

// Where the slices of one call lie.
class Places {
 public:
  Places(Bytes block, const Arguments& arguments) : block_(block), arguments_(arguments) {}

  static SpaceId space(Slice slice) {
    if (slice.buffer == Buffer::scratch) return fixed_space;
    return slice.buffer == Buffer::send ? send_space : recv_space;
  }
  void add(Layout& layout, Slice slice) const {
    if (slice.buffer == Buffer::scratch)
      return layout.add(static_cast<std::ptrdiff_t>(slice.block * block_), block_);
    const bool sent = slice.buffer == Buffer::send;
    tonari::add(layout, (sent ? arguments_.binding.send : arguments_.binding.recv)[slice.block],
                sent ? arguments_.sendbuf : arguments_.recvbuf);
  }

 private:
  Bytes block_;
  const Arguments& arguments_;
};

std::vector<HopMessages::Part> parts_of(std::span<const Slice> slices, const Places& places) {
  std::vector<HopMessages::Part> parts;
  for (const Slice slice : slices) {
    const SpaceId space = Places::space(slice);
    if (parts.empty() || parts.back().space != space) parts.push_back({space, {}});
    places.add(parts.back().layout, slice);
  }
  return parts;
}

std::vector<HopMessages::Copy> copies_of(const Plan& plan, const Operation& op,
                                         const Places& places) {
  std::vector<HopMessages::Copy> copies;
  const auto sources = plan.copy_sources(op), targets = plan.copy_targets(op);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    Layout from, to;
    places.add(from, sources[k]), places.add(to, targets[k]);
    std::vector<Move> moves;
    make_moves(moves, nullptr, to, nullptr, from);
    for (const Move& move : moves)
      copies.push_back({move, Places::space(sources[k]), Places::space(targets[k])});
  }
  return copies;
}

}  // namespace

HopPlan::HopPlan(Plan of_rank, Collective operation, const Streams& streams)
    : plan(std::move(of_rank)), collective(operation), peers(streams.size()) {
  for (OpId op = 0; op < plan.size(); ++op) {
    if (plan[op].kind == Kind::recv && plan.predecessor_count(op) > 0)
      fail(Errc::internal, "operation ", op,
           " of a plan for one-shot calls receives to a place that is not free at first");
    const bool copy = plan[op].kind == Kind::copy;
    stream_of.push_back(copy ? 0 : stream_to(streams, plan[op].peer));
    if (copy) continue;
    Peer& peer = peers[stream_of.back()];
    if (plan[op].kind == Kind::send)
      ++peer.sent, ++messages;
    else
      peer.received.push_back(op), arriving.push_back(op);
  }
  std::ranges::stable_sort(arriving, {}, [this](OpId op) { return plan[op].tag; });
}

HopMessages::HopMessages(std::shared_ptr<const HopPlan> of, Bytes block_bytes,
                         const Arguments& arguments)
    : plan(std::move(of)), block(block_bytes) {
  const Plan& steps = plan->plan;
  const Places places(block, arguments);
  for (const Operation& op : steps.operations()) {
    const bool copy = op.kind == Kind::copy;
    parts.push_back(copy ? std::vector<Part>() : parts_of(steps.slices(op), places));
    copies.push_back(copy ? copies_of(steps, op, places) : std::vector<Copy>());
    lengths.push_back(copy ? 0 : block * op.slice_count);
    if (op.kind == Kind::send) bytes += lengths.back();
  }
  scratch = steps.scratch_like().size() * block;
}

}  // namespace tonari
