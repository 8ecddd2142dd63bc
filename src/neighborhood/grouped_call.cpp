// SPDX-License-Identifier: BSD-3-Clause
// The six operations in a group.
#include <algorithm>

#include "neighborhood/group.hpp"
#include "neighborhood/sizes.hpp"
#include "topology/by_peer.hpp"

namespace tonari {
namespace {

class GroupedOperation final : public GroupedCall {
 public:
  explicit GroupedOperation(const Call& call)
      : context_(call.near->context), call_(read_call(*call.near->context, call)) {
    require_on_host(call_.on_gpu);
    TypeDuplicates duplicate(types_);
    for (auto* side : {&call_.arguments.send, &call_.arguments.recv})
      for (TypedBlock& block : *side) block.type = duplicate(block.type);
  }

  std::string name() const override { return tonari::name(call_.arguments.collective); }
  Context& context() const override { return *context_; }
  void agree_and_prepare() override {
    const Collective collective = call_.arguments.collective;
    const std::array things{Alike{static_cast<std::uint64_t>(collective), other_collective},
                            Alike{call_.sizes.one_size}, Alike{call_.sizes.by_number}};
    const Compared told = agree_on_arguments(context_->comm(), MPI_INFO_NULL, std::nullopt, things);
    const ComparedSizes compared{told.same[1], told.same[2], told.said[1]};
    run_collectively(context_->comm(), [&] {
      if (context_->exact_sizes()) return;  // its ends were compared
      agree_on_sizes(*context_, collective, call_.arguments.binding, call_.sizes, compared);
    });
  }
  std::size_t steps() const override { return 1; }
  GroupSide sent(std::size_t /*step*/) override {
    const Arguments& a = call_.arguments;
    const bool gathers = a.collective == Collective::allgather;
    GroupSide side;
    const ByPeer by_peer(vertex().targets);
    for (const ByPeer::Peer& peer : by_peer.peers())
      for (const std::uint32_t i : peer.blocks)
        add(side, peer.rank, a.sendbuf, a.send[gathers ? 0 : i]);
    return side;
  }
  GroupSide received(std::size_t /*step*/) override {
    GroupSide side;
    const auto origin = [&](std::uint32_t j) { return vertex().origins[j]; };
    const ByPeer by_peer(vertex().sources);
    for (const ByPeer::Peer& peer : by_peer.peers()) {
      std::ranges::sort(peer.blocks, {}, origin);
      for (const std::uint32_t j : peer.blocks)
        add(side, peer.rank, call_.arguments.recvbuf, call_.arguments.recv[j]);
    }
    return side;
  }
  TouchedBytes touched() const override {
    return {bytes_of(call_.arguments.binding.send), bytes_of(call_.arguments.binding.recv)};
  }

 private:
  const Vertex& vertex() const { return context_->vertex(); }
  static void add(GroupSide& side, int peer, const void* buffer, const TypedBlock& block) {
    side.peers.push_back(peer);
    side.blocks.add(reinterpret_cast<MPI_Aint>(buffer) + block.displacement, block.count,
                    block.type, fixed_space);
  }
  static Layout bytes_of(const std::vector<Block>& blocks) {
    Layout all;
    for (const Block& block : blocks) tonari::add(all, block, nullptr);
    return all;
  }

  std::shared_ptr<Context> context_;
  ReadCall call_;
  std::vector<OwnedType> types_;
};

}  // namespace

std::unique_ptr<GroupedCall> group_operation(const Call& call) {
  return std::make_unique<GroupedOperation>(call);
}

}  // namespace tonari
