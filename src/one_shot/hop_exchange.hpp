// SPDX-License-Identifier: BSD-3-Clause
// An exchange of a one-shot call that combines: it runs a plan over the streams of a neighborhood
// (ADR 50). Ranks agree on nothing beforehand. A rank that cannot do its part still sends all its
// messages: they say why, and so do those that would have passed its blocks on.
#pragma once

#include <memory>
#include <vector>

#include "memory/memory.hpp"
#include "one_shot/hop_messages.hpp"
#include "one_shot/streamed_exchange.hpp"

namespace tonari {

class HopExchange final : public StreamedExchange<HopExchange, HopMessages> {
 public:
  HopExchange(std::shared_ptr<Streams> streams, WaitPolicy wait);

  // Before start. messages: they live until the exchange is complete, at best as hold() keeps them.
  void bind(const HopMessages& messages, const Spaces& spaces);
  // After this, no exchange by the plan needs memory for its books.
  void make_room(const HopPlan& plan);
  // Or instead: this rank cannot exchange. The exchange then fails with this error.
  void refuse(const HopPlan& plan, const Error& why);

  void start() override;
  int messages() const override { return plan_ ? plan_->messages : 0; }
  std::size_t scratch_bytes() const override { return streams_->bytes() + scratch_.bytes(); }
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange;
  friend StreamedExchange;
  struct Link {
    std::uint64_t out_ticket = 0, in_ticket = 0;
    std::uint32_t to_send = 0, to_receive = 0;
    bool taking = false, stays = false;
  };

  bool advance();
  void check_peers() const;
  void join();
  void ready(OpId op);
  void finish(OpId op);
  void run_copies();
  void run_copy(OpId op) const;

  bool send_some();
  bool send(OpId op);
  void push_failure(OutStream& out, std::byte* at, OpId op) const;
  void end_out(std::size_t k);
  bool receive_some();
  bool receive(std::size_t k);
  OpId operation_of(std::size_t k, const MessageHead& head) const;
  void take(OpId op, const MessageHead& head, const std::byte* at, std::size_t bytes);
  std::byte* base(SpaceId space) const {
    return space == fixed_space ? scratch_.data() : spaces_[space];
  }

  const HopPlan* plan_ = nullptr;
  Memory scratch_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> waiting_;   // by operation: how many it waits for
  std::vector<bool> spoiled_, arrived_;  // it has no right bytes; its message was read
  std::size_t next_ = 0;                 // of plan_->arriving, to be looked for
  std::vector<OpId> ready_, sending_;    // copies that are due, and messages that are not sent yet
};

}  // namespace tonari
