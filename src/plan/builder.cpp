// SPDX-License-Identifier: BSD-3-Clause
#include "plan/builder.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {

Builder::Builder(int rank, std::size_t recv_blocks)
    : recv_blocks_(recv_blocks), slots_(recv_blocks) {
  plan_.rank_ = rank;
}

void Builder::reserve(std::size_t operations, std::size_t slices) {
  plan_.operations_.reserve(operations);
  last_successor_.reserve(operations);
  plan_.slices_.reserve(slices);
}

Slice Builder::scratch(std::uint32_t like) {
  plan_.scratch_like_.push_back(like);
  slots_.emplace_back();
  return {Buffer::scratch, static_cast<std::uint32_t>(plan_.scratch_like_.size() - 1)};
}

OpId Builder::close(Kind kind, int peer, int tag) {
  const OpId op = static_cast<OpId>(plan_.operations_.size());
  const std::size_t count = pending();
  if (count == 0) fail(Errc::internal, "an operation without slices was added to a plan");
  plan_.operations_.push_back(
      {kind, peer, tag, static_cast<std::uint32_t>(closed_), static_cast<std::uint32_t>(count)});
  last_successor_.push_back(none);
  closed_ = plan_.slices_.size();
  return op;
}

OpId Builder::send(int peer, int tag) {
  const OpId op = close(Kind::send, peer, tag);
  for (Slice s : plan_.slices(op)) read(op, s);
  return op;
}

OpId Builder::recv(int peer, int tag) {
  const OpId op = close(Kind::recv, peer, tag);
  for (Slice s : plan_.slices(op)) write(op, s);
  return op;
}

OpId Builder::copy(std::span<const Slice> sources, std::span<const Slice> targets) {
  for (Slice s : sources) slice(s);
  for (Slice s : targets) slice(s);
  const OpId op = close(Kind::copy, plan_.rank_, -1);
  for (Slice s : sources) read(op, s);
  for (Slice s : targets) write(op, s);
  return op;
}

OpId Builder::exchange(int peer, int tag) {
  const OpId op = close(Kind::exchange, peer, tag);
  for (Slice s : plan_.slices(op)) {
    if (s.buffer != Buffer::recv)
      fail(Errc::internal, "a plan swaps a block that is not in the receive buffer");
    read(op, s);
    write(op, s);
  }
  return op;
}

void Builder::after(OpId before, OpId op) {
  if (before >= op || op >= plan_.size())
    fail(Errc::internal, "operation ", op, " of a plan of ", plan_.size(),
         " cannot wait for operation ", before);
  depend(before, op);
}

void Builder::read(OpId op, Slice s) {
  if (s.buffer == Buffer::send) return;  // never written
  Slot& here = slot(s);
  depend(here.writer, op);
  readers_.push_back({op, here.readers});
  here.readers = static_cast<std::uint32_t>(readers_.size() - 1);
}

void Builder::write(OpId op, Slice s) {
  if (s.buffer == Buffer::send) fail(Errc::internal, "a plan writes to the send buffer");
  Slot& here = slot(s);
  if (here.readers == none) depend(here.writer, op);
  for (std::uint32_t r = here.readers; r != none; r = readers_[r].next) depend(readers_[r].op, op);
  here = {op, none};
}

void Builder::depend(OpId before, OpId after) {
  if (before == none || before == after || last_successor_[before] == after) return;
  last_successor_[before] = after;
  edges_.emplace_back(before, after);
}

void Builder::limit_ports(int ports) {
  if (ports <= 0) return;
  struct Round {
    int tag;
    std::vector<OpId> ops;
  };
  std::vector<Round> rounds;
  for (OpId op = 0; op < plan_.size(); ++op) {
    if (plan_[op].kind == Kind::copy) continue;
    if (rounds.empty() || rounds.back().tag != plan_[op].tag) rounds.push_back({plan_[op].tag, {}});
    rounds.back().ops.push_back(op);
  }
  for (std::size_t k = ports; k < rounds.size(); ++k)
    for (OpId after : rounds[k].ops)
      for (OpId before : rounds[k - ports].ops) depend(before, after);
}

Plan Builder::build() {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  plan_.predecessor_counts_.assign(plan_.size(), 0);
  plan_.successor_begin_.assign(plan_.size() + 1, 0);
  plan_.successors_.reserve(edges_.size());
  for (const auto& [before, after] : edges_) {
    ++plan_.successor_begin_[before + 1];
    ++plan_.predecessor_counts_[after];
    plan_.successors_.push_back(after);
  }
  for (std::size_t op = 0; op < plan_.size(); ++op)
    plan_.successor_begin_[op + 1] += plan_.successor_begin_[op];
  return std::move(plan_);
}

}  // namespace tonari
