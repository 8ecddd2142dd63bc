// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/plan.hpp"

#include <algorithm>
#include <deque>

#include "plan/builder.hpp"

namespace tonari {
namespace {

// The temporary memory: bytes that were never used, and those handed out, longest ago first.
class Ring {
 public:
  explicit Ring(std::uint64_t bytes) : unused_(bytes) {}

  // Hands `bytes` to op; before(owner) for each operation that has to give some of them up.
  template <typename Before>
  void hand_out(OpId op, std::uint64_t bytes, Before before) {
    if (bytes == 0) return;
    std::uint64_t missing = bytes - std::min(bytes, unused_);
    unused_ -= bytes - missing;
    while (missing > 0) {
      Share& oldest = shares_.front();
      const std::uint64_t given = std::min(missing, oldest.bytes);
      before(oldest.owner);
      missing -= given;
      oldest.bytes -= given;
      if (oldest.bytes == 0) shares_.pop_front();
    }
    shares_.push_back({op, bytes});
  }

 private:
  struct Share {
    OpId owner;
    std::uint64_t bytes;
  };
  std::uint64_t unused_;
  std::deque<Share> shares_;
};

std::uint64_t budget(std::uint64_t memory) { return std::max<std::uint64_t>(memory, 1); }

}  // namespace

std::uint64_t granted(const SwapNeed& need, std::uint64_t memory) {
  return std::min(need.memory, budget(memory));
}

Plan plan_inplace(std::int32_t rank, std::span<const std::int32_t> partners,
                  std::span<const SwapNeed> needs, std::uint64_t memory) {
  Builder builder(rank, needs.size());
  builder.reserve(partners.size(), partners.size());
  Ring ring(budget(memory));
  for (std::int32_t peer : partners) {
    const SwapNeed& need = needs[static_cast<std::size_t>(peer)];
    if (peer == rank || need.bytes == 0) continue;
    builder.slice({Buffer::recv, static_cast<std::uint32_t>(peer)});
    const OpId op = builder.exchange(peer, 0);
    ring.hand_out(op, granted(need, memory), [&](OpId owner) { builder.after(owner, op); });
  }
  return builder.build();
}

}  // namespace tonari
