// Runs a plan of swaps: those that the plan lets run at the same time go on side by side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channels/link.hpp"
#include "channels/owned_comm.hpp"
#include "channels/swap.hpp"
#include "engine/polled_exchange.hpp"
#include "plan/plan.hpp"

namespace tonari {

class SwapExchange final : public PolledExchange<SwapExchange> {
 public:
  // What it is made of, and what there is to say about it.
  struct Parts {
    std::vector<std::unique_ptr<Swap>> swaps;  // of each operation of the plan
    std::shared_ptr<Link> link;                // that some of them go through; may be null
    std::shared_ptr<const OwnedComm> comm;     // whose progress this rank owes to others
    WaitPolicy wait = {};
    int messages = 0;
    Bytes bytes = 0;
    std::size_t memory = 0;
    std::string channel_mix;
  };
  SwapExchange(const Plan& plan, Parts parts);

  void start() override;
  int messages() const override { return parts_.messages; }
  std::string channel_mix() const override { return parts_.channel_mix; }
  Bytes bytes() const override { return parts_.bytes; }
  std::size_t scratch_bytes() const override { return parts_.memory; }
  void give_up() override;

 private:
  friend PolledExchange;
  bool finished() const { return left_ == 0; }
  bool advance();
  void check_peers() const;
  void begin(OpId op);

  Plan plan_;
  Parts parts_;
  std::vector<std::uint32_t> waiting_;  // per operation: how many before it are not complete
  std::vector<OpId> active_;            // in the order in which they began
  std::size_t left_ = 0;
};

}  // namespace tonari
