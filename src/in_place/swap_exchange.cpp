// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/swap_exchange.hpp"

#include <utility>

#include "channels/arguments.hpp"

namespace tonari {

SwapExchange::SwapExchange(const Plan& plan, Parts parts)
    : PolledExchange(parts.comm, parts.wait),
      plan_(plan),
      parts_(std::move(parts)),
      waiting_(plan_.size()) {
  active_.reserve(plan_.size());
}

void SwapExchange::begin(OpId op) {
  parts_.swaps[op]->start();
  active_.push_back(op);
}

void SwapExchange::start() {
  active_.clear();
  left_ = plan_.size();
  for (OpId op = 0; op < plan_.size(); ++op) waiting_[op] = plan_.predecessor_count(op);
  for (OpId op = 0; op < plan_.size(); ++op)
    if (waiting_[op] == 0) begin(op);
  advance();
}

// This look includes swaps that begin by it.
bool SwapExchange::advance() {
  bool moved = false;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const OpId op = active_[k];
    const Swap::State state = parts_.swaps[op]->advance();
    moved |= state != Swap::State::idle;
    if (state != Swap::State::complete) {
      active_[kept++] = op;
      continue;
    }
    --left_;
    for (OpId next : plan_.successors(op))
      if (--waiting_[next] == 0) begin(next);
  }
  active_.resize(kept);
  return moved;
}

void SwapExchange::check_peers() const {
  for (OpId op : active_) {
    parts_.swaps[op]->check();
    check_alive(parts_.node.get(), plan_[op].peer);
  }
}

void SwapExchange::awaits(Awaited& awaited) const {
  awaited.step(plan_.size() - left_ + 1, plan_.size());
  for (OpId op : active_) awaited.add(Awaited::What::swap, parts_.node.get(), plan_[op].peer);
}

void SwapExchange::rebind(Shifts shifts) {
  const std::ptrdiff_t by = shifts[send_space] - std::exchange(shift_, shifts[send_space]);
  for (const auto& swap : parts_.swaps)
    if (by != 0 && swap) swap->move(by);
}

void SwapExchange::give_up() {
  for (const auto& swap : parts_.swaps)
    if (swap) swap->leave();
  if (parts_.link) parts_.link->give_up();
}

}  // namespace tonari
