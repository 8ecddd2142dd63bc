// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of blocks in a group.
#include "blocks/request.hpp"
#include "blocks/sides.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

class GroupedBlocks final : public GroupedCall {
 public:
  GroupedBlocks(SharedBlocks& blocks, const BlocksCall& call)
      : blocks_(blocks), request_(read_request(blocks, call)) {}

  std::string name() const override {
    return request_.reverse ? "reverse exchange of blocks" : "forward exchange of blocks";
  }
  Context& context() const override { return blocks_.context(); }
  void agree_and_prepare() override {
    agree_on_arguments(context().comm(), MPI_INFO_NULL, std::nullopt, alike(blocks_, request_));
    run_collectively(context().comm(),
                     [&] { sides_ = sides_of(blocks_, request_, Pieces::joined); });
  }
  std::size_t steps() const override { return 1; }
  GroupSide sent(std::size_t /*step*/) override { return std::move(sides_.send); }
  GroupSide received(std::size_t /*step*/) override { return std::move(sides_.receive); }
  TouchedBytes touched() const override { return sides_.touched; }
  std::unique_ptr<LocalWork> work() override {
    if (!request_.reverse) return nullptr;
    return std::make_unique<CombiningWork>(std::move(sides_.contributions), request_.reduction);
  }

 private:
  SharedBlocks& blocks_;
  BlocksRequest request_;
  BlocksSides sides_;
};

}  // namespace

std::unique_ptr<GroupedCall> group_blocks(SharedBlocks& blocks, const BlocksCall& call) {
  return std::make_unique<GroupedBlocks>(blocks, call);
}

}  // namespace tonari
