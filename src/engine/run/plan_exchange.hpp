// SPDX-License-Identifier: BSD-3-Clause
// Runs a bound plan over MPI point to point and over edges: what is ready starts, and what
// completes releases its successors.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "channels/p2p/program.hpp"
#include "engine/comm/context.hpp"
#include "engine/run/bound_messages.hpp"
#include "engine/run/edge_queue.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "plan/plan.hpp"

namespace tonari {

class PlanExchange final : public PolledExchange<PlanExchange> {
 public:
  struct Options {
    // tags first_tag + 0 .. first_tag + rounds - 1 of comm belong to this exchange
    int first_tag = 0;
    bool persistent = true;  // persistent MPI requests; otherwise Isend and Irecv each time
    std::shared_ptr<const Node> node = nullptr;  // this rank's
    Edges edges = {};                            // the program was compiled with their slots
    WaitPolicy wait = {};
  };
  PlanExchange(const Plan& plan, P2pProgram program, std::shared_ptr<const OwnedComm> comm,
               Options options);
  ~PlanExchange() override;

  void start() override;
  bool test() override;
  void wait() override;
  bool nothing() const override { return program_.steps.empty(); }
  // all messages go by MPI, and at the start
  bool proceeds_by_itself() const override { return independent_ && !edges_.any(); }
  int messages() const override { return messages_ + edges_.messages(); }
  std::string channel_mix() const override;
  Bytes bytes() const override { return program_.bytes_sent; }
  std::size_t scratch_bytes() const override { return program_.memory.bytes() + edges_.bytes(); }
  const std::byte* view(std::size_t block) const override;
  void rebind(Shifts shifts) override;
  void give_up() override { edges_.give_up(); }
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange;
  bool finished() const { return not_complete_ == 0; }
  bool advance();
  void progress();
  void check_peers() const;
  bool look_again() { return edges_.any() ? advance() : look_by_mpi(); }

  void make_requests();
  void rebind_messages(Shifts shifts);
  void rebind_copies(Shifts shifts);
  bool take_kept(Shifts shifts);
  void order_transfers(const Plan& plan);
  bool on_node(int peer) const;
  void prepare_burst();
  void start_burst();
  void start_ready();
  void start_operation(OpId op);
  void start_transfers(Range range);
  void complete_transfer(int index);
  void complete(OpId op);
  void release_successors(OpId op);
  void finish_all();
  bool complete_some();
  bool look_by_mpi();
  bool under_way(std::size_t transfer) const;
  void run(Range moves) const;
  void run(const P2pProgram::Moves& moves) const;
  BoundMessages::Tags tags() const { return {comm_->get(), options_.first_tag}; }

  P2pProgram program_;
  Options options_;
  EdgeQueue edges_;
  int messages_ = 0;

  // The DAG, and the state of the running exchange: how many operations each one waits for, and how
  // many transfers are left.
  std::vector<std::uint32_t> successor_begin_;
  std::vector<OpId> successors_;
  std::vector<std::uint32_t> predecessors_, waiting_;
  std::vector<std::uint32_t> outstanding_;
  std::vector<OpId> initial_, ready_, unpacking_;
  std::vector<bool> is_copy_;
  std::vector<std::int32_t> peers_;  // of each operation; -1: it is a copy
  std::size_t not_started_ = 0, not_complete_ = 0;
  bool independent_ = false;  // no operation waits for another
  bool unpack_at_end_ = false;

  // True if nothing waits for anything, little is unpacked, and all goes by MPI. Then everything
  // starts in one go, and one call completes it: half the library's instructions of a short
  // exchange.
  struct Burst {
    struct Sending {
      Range packing, transfers;
    };
    std::vector<Sending> sendings;
    Range packing, copying, unpacking;  // of the program's moves
    bool pack_first = false;            // so little that one call may start all messages
  };
  std::optional<Burst> burst_;

  // Copies and places of pieces as they are for a pair of buffers used before.
  struct BoundCopies {
    std::vector<std::ptrdiff_t> shifts;
    std::vector<Move> moves;
    std::vector<Piece> pieces;
  };

  static constexpr std::size_t most_others = 7;
  BoundMessages by_mpi_;               // receives that can be posted at once come first
  std::vector<BoundMessages> others_;  // for buffers used before
  std::size_t next_other_ = 0;         // to be given up for new buffers
  std::vector<BoundCopies> kept_;      // for buffers used before, if the copies are few
  std::size_t next_kept_ = 0;          // to be given up for new buffers
  std::vector<std::ptrdiff_t> bound_;  // by space, from the buffers of init: what copies are for
  bool in_buffers_ = false;            // some of by_mpi_ lie in the program's buffers
  std::vector<std::ptrdiff_t> steps_;  // from one binding to the next
  std::vector<OpId> operation_of_;     // per request
  Range posted_at_once_;
  std::size_t posted_operations_ = 0;  // the number of operations that they belong to
  std::vector<int> completed_;
  std::uint32_t active_transfers_ = 0;
  std::vector<OpId> done_;  // those that the edges completed a moment ago
};

}  // namespace tonari
