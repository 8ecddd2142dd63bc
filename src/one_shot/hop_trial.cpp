// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/hop_trial.hpp"

#include <algorithm>
#include <array>

#include "engine/tune/contest.hpp"
#include "engine/wait/agree.hpp"
#include "one_shot/direct_exchange.hpp"
#include "one_shot/hop_exchange.hpp"

namespace tonari {
namespace {

// Sizes of blocks that are tried, the shortest first, until combining is slower.
constexpr std::array<Bytes, 6> trial_sizes{8, 512, 2048, 4096, 8192, 16384};

// A call with blocks of one size, side by side. Blocks that no edge leads to or from are empty.
class TriedBlocks {
 public:
  TriedBlocks(const LocalTopology& topology, Collective collective, Bytes bytes) {
    const Vertex& vertex = topology.vertex;
    const auto side = [&](const std::vector<std::int32_t>& peers, SpaceId space) {
      std::vector<TypedBlock> blocks;
      for (std::size_t i = 0; i < peers.size(); ++i)
        blocks.push_back({static_cast<MPI_Aint>(i * bytes),
                          peers[i] >= 0 ? static_cast<MPI_Count>(bytes) : 0, MPI_BYTE, space});
      return blocks;
    };
    arguments_.collective = collective;
    arguments_.send =
        collective == Collective::allgather
            ? std::vector<TypedBlock>{{0, static_cast<MPI_Count>(bytes), MPI_BYTE, send_space}}
            : side(vertex.targets, send_space);
    arguments_.recv = side(vertex.sources, recv_space);
    send_ = Memory(std::max<std::size_t>(1, arguments_.send.size()) * bytes);
    recv_ = Memory(std::max<std::size_t>(1, arguments_.recv.size()) * bytes);
    std::fill_n(send_.data(), send_.bytes(), std::byte{1});
    arguments_.sendbuf = send_.data(), arguments_.recvbuf = recv_.data();
    arguments_.types_of_bytes = true;
    arguments_.bind();
  }

  const Arguments& arguments() const { return arguments_; }
  Spaces spaces() const { return {nullptr, send_.data(), recv_.data()}; }

 private:
  Memory send_, recv_;
  Arguments arguments_;
};

}  // namespace

HopTrial try_hops(Context& context, const std::shared_ptr<Streams>& streams,
                  const std::shared_ptr<const HopPlan>& plan, Bytes longest, double seconds,
                  WaitPolicy wait) {
  HopTrial trial;
  for (const Bytes bytes : trial_sizes) {
    if (bytes > longest) break;
    std::optional<TriedBlocks> blocks;
    DirectExchange straight(streams, wait);
    HopExchange combining(streams, wait);
    std::optional<DirectMessages> direct;
    std::optional<HopMessages> hops;
    stay_together(context.comm());
    run_collectively(context.comm(), [&] {
      blocks.emplace(context.topology(), plan->collective, bytes);
      direct = direct_messages(*streams, context.topology(), self_edges_of(context.vertex()),
                               blocks->arguments());
      hops.emplace(plan, bytes, blocks->arguments());
      straight.bind(*direct, blocks->spaces());
      combining.bind(*hops, blocks->spaces());
    });
    const std::array<Exchange*, 2> both{&straight, &combining};
    const std::vector<Standing> times = time_in_turns(context.comm(), both, seconds);
    trial.steady = trial.steady && times[0].steady && times[1].steady;
    if (!times[1].finished || (times[0].finished && times[0].seconds <= times[1].seconds)) break;
    trial.most = bytes;
  }
  return trial;
}

}  // namespace tonari
