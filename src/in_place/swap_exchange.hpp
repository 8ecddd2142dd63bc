// SPDX-License-Identifier: BSD-3-Clause
// Runs a plan of swaps; those that the plan allows at the same time run side by side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channels/link.hpp"
#include "channels/node.hpp"
#include "channels/swap.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "mpi/owned_comm.hpp"
#include "plan/plan.hpp"

namespace tonari {

class SwapExchange final : public PolledExchange<SwapExchange> {
 public:
  // The parts of the exchange, and what can be reported about it.
  struct Parts {
    std::vector<std::unique_ptr<Swap>> swaps;  // of each operation of the plan
    std::shared_ptr<Link> link;                // that some of the swaps use; may be null
    std::shared_ptr<const OwnedComm> comm;     // where this rank drives the MPI for others
    std::shared_ptr<const Node> node = nullptr;
    WaitPolicy wait = {};
    int messages = 0;
    Bytes bytes = 0;
    std::size_t memory = 0, books = 0;
    std::string channel_mix;
  };
  SwapExchange(const Plan& plan, Parts parts);

  void start() override;
  int messages() const override { return parts_.messages; }
  std::string channel_mix() const override { return parts_.channel_mix; }
  Bytes bytes() const override { return parts_.bytes; }
  std::size_t scratch_bytes() const override { return parts_.memory; }
  std::size_t book_bytes() const override { return parts_.books; }
  void give_up() override;
  // All blocks lie in one buffer, the program's send_space.
  void rebind(std::span<const std::ptrdiff_t> shifts) override;
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange;
  bool finished() const { return left_ == 0; }
  bool advance();
  void check_peers() const;
  void begin(OpId op);

  Plan plan_;
  Parts parts_;
  std::vector<std::uint32_t> waiting_;  // per operation: how many before it are incomplete
  std::vector<OpId> active_;            // in the order in which they began
  std::size_t left_ = 0;
  std::ptrdiff_t shift_ = 0;  // of the buffer, from where it was first
};

}  // namespace tonari
