// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/plan_exchange.hpp"

#include <algorithm>
#include <utility>

#include "channels/abandon.hpp"

namespace tonari {
namespace {

// Up to this many bytes are unpacked together once all messages are there: that costs less than
// checking each message as it arrives.
constexpr Bytes small_unpack = 64 * 1024;
// Up to this many bytes are packed before the first message leaves: then one call starts all
// messages, if they are persistent.
constexpr Bytes small_pack = 2 * 1024;
// Up to this many copies are kept for each pair of buffers: to move them to another may take as
// long as the exchange of small blocks itself.
constexpr std::size_t few_copies = 1024;

}  // namespace

PlanExchange::PlanExchange(const Plan& plan, P2pProgram program,
                           std::shared_ptr<const OwnedComm> comm, Options options)
    : PolledExchange(std::move(comm), options.wait),
      program_(std::move(program)),
      options_(std::move(options)),
      edges_(std::move(options_.edges), program_) {
  successor_begin_.push_back(0);
  for (OpId op = 0; op < plan.size(); ++op) {
    const auto next = plan.successors(op);
    successors_.insert(successors_.end(), next.begin(), next.end());
    successor_begin_.push_back(static_cast<std::uint32_t>(successors_.size()));
    predecessors_.push_back(plan.predecessor_count(op));
    is_copy_.push_back(plan[op].kind == Kind::copy);
    peers_.push_back(is_copy_[op] ? -1 : plan[op].peer);
    if (program_.steps[op].after[0].size() > 0 && !edges_.has(op)) unpacking_.push_back(op);
  }
  independent_ = successors_.empty();
  unpack_at_end_ = program_.bytes_unpacked <= small_unpack && !edges_.any();
  waiting_ = predecessors_;
  outstanding_.assign(plan.size(), 0);
  ready_.reserve(plan.size());
  done_.reserve(plan.size());
  order_transfers(plan);
  if (independent_ && unpack_at_end_) prepare_burst();
  make_requests();  // last: nothing may fail that would leave them behind
}

bool PlanExchange::on_node(int peer) const { return options_.node && options_.node->here(peer); }

// Receives that wait for nothing come first, and one call posts them. Then comes what else can
// start: sends to other nodes, sends on the node, which keep the processor busy, and copies. Copies
// are last, so that messages travel meanwhile (Hoefler and Schneider 2012, II-A3). Only then does
// it look at the edges.
void PlanExchange::order_transfers(const Plan& plan) {
  std::vector<Transfer> ordered;
  const auto take = [&](OpId op) {
    Range& range = program_.steps[op].transfers;
    const auto begin = static_cast<std::uint32_t>(ordered.size());
    ordered.insert(ordered.end(), program_.transfers.begin() + range.begin,
                   program_.transfers.begin() + range.end);
    range = {begin, static_cast<std::uint32_t>(ordered.size())};
    operation_of_.insert(operation_of_.end(), range.size(), op);
  };
  const auto at_once = [&](OpId op, Kind kind) {
    return predecessors_[op] == 0 && plan[op].kind == kind;
  };
  for (OpId op = 0; op < plan.size(); ++op)
    if (at_once(op, Kind::recv) && !edges_.has(op)) {
      take(op);
      if (program_.steps[op].transfers.size() > 0)
        ++posted_operations_;
      else
        initial_.push_back(op);
    }
  posted_at_once_ = {0, static_cast<std::uint32_t>(ordered.size())};
  for (bool near : {false, true})
    for (OpId op = 0; op < plan.size(); ++op)
      if (at_once(op, Kind::send) && on_node(plan[op].peer) == near)
        take(op), initial_.push_back(op);
  for (OpId op = 0; op < plan.size(); ++op)
    if (at_once(op, Kind::copy)) initial_.push_back(op);
  for (OpId op = 0; op < plan.size(); ++op)
    if (at_once(op, Kind::recv) && edges_.has(op)) initial_.push_back(op);
  for (OpId op = 0; op < plan.size(); ++op)
    if (predecessors_[op] > 0 && plan[op].kind != Kind::copy) take(op);
  by_mpi_.transfers = std::move(ordered), program_.transfers = {};
}

void PlanExchange::make_requests() {
  completed_.resize(by_mpi_.transfers.size());
  for (const Transfer& t : by_mpi_.transfers) {
    messages_ += t.send;
    in_buffers_ = in_buffers_ || t.space != fixed_space || t.scattered >= 0;
  }
  by_mpi_.persistent = options_.persistent;
  by_mpi_.make_requests(tags());
}

PlanExchange::~PlanExchange() {
  const auto is_send = [&](std::size_t k) { return by_mpi_.transfers[k].send; };
  if (abandon(by_mpi_.requests, is_send)) leak(std::move(program_.memory));
}

// The moves of all operations by when they are due.
void PlanExchange::prepare_burst() {
  Burst burst;
  std::vector<Move> moves;
  std::vector<MoveSpaces> spaces;
  const auto append = [&](const P2pProgram::Moves& ranges) {
    for (std::uint32_t k = ranges[0].begin; k < ranges[0].end; ++k)
      moves.push_back(program_.moves[k]), spaces.push_back(program_.move_spaces[k]);
  };
  const auto end = [&] { return static_cast<std::uint32_t>(moves.size()); };
  for (OpId op : initial_) {
    if (is_copy_[op]) continue;
    const std::uint32_t begin = end();
    append(program_.steps[op].before);
    burst.sendings.push_back({{begin, end()}, program_.steps[op].transfers});
  }
  burst.packing = {0, end()};
  for (OpId op : initial_)
    if (is_copy_[op]) append(program_.steps[op].before), append(program_.steps[op].after);
  burst.copying = {burst.packing.end, end()};
  for (OpId op : unpacking_) append(program_.steps[op].after);
  burst.unpacking = {burst.copying.end, end()};
  Bytes packed = 0;
  for (const Move& m : std::span(moves).first(burst.packing.end)) packed += m.length * m.count;
  burst.pack_first = options_.persistent && packed <= small_pack;
  burst_ = std::move(burst);
  program_.moves = std::move(moves), program_.move_spaces = std::move(spaces);
}

void PlanExchange::start_burst() {
  if (burst_->pack_first) {
    run(burst_->packing);
    start_transfers({0, static_cast<std::uint32_t>(by_mpi_.requests.size())});
  } else {
    start_transfers(posted_at_once_);
    for (const Burst::Sending& s : burst_->sendings) run(s.packing), start_transfers(s.transfers);
  }
  run(burst_->copying);
  not_complete_ = active_transfers_ > 0;
}

void PlanExchange::start() {
  if (burst_) return start_burst();
  const std::size_t operations = program_.steps.size();
  edges_.begin();
  not_complete_ = operations;
  not_started_ = operations - posted_operations_;
  if (!independent_) std::copy(predecessors_.begin(), predecessors_.end(), waiting_.begin());
  for (OpId op = 0; op < operations; ++op) outstanding_[op] = program_.steps[op].transfers.size();
  start_transfers(posted_at_once_);
  for (OpId op : initial_) start_operation(op);
  start_ready();
}

void PlanExchange::start_transfers(Range range) {
  if (range.size() == 0) return;
  active_transfers_ += range.size();
  if (by_mpi_.persistent) {
    call_mpi("MPI_Startall", [&] {
      return MPI_Startall(static_cast<int>(range.size()), &by_mpi_.requests[range.begin]);
    });
    return;
  }
  for (std::uint32_t k = range.begin; k < range.end; ++k) {
    const Transfer& t = by_mpi_.transfers[k];
    const int tag = options_.first_tag + t.tag;
    if (t.send)
      check_mpi(
          MPI_Isend(t.buffer, t.count, t.type, t.peer, tag, comm_->get(), &by_mpi_.requests[k]),
          "MPI_Isend");
    else
      check_mpi(
          MPI_Irecv(t.buffer, t.count, t.type, t.peer, tag, comm_->get(), &by_mpi_.requests[k]),
          "MPI_Irecv");
  }
}

void PlanExchange::run(Range moves) const {
  run_moves(std::span(program_.moves).subspan(moves.begin, moves.size()));
}

void PlanExchange::run(const P2pProgram::Moves& moves) const {
  run(moves[static_cast<std::size_t>(edges_.parity())]);
}

void PlanExchange::start_operation(OpId op) {
  --not_started_;
  if (edges_.has(op)) {
    if (edges_.start(op)) release_successors(op);
    return;
  }
  const P2pProgram::Step& step = program_.steps[op];
  run(step.before);
  start_transfers(step.transfers);
  if (step.transfers.size() == 0) complete(op);
}

void PlanExchange::complete(OpId op) {
  run(program_.steps[op].after);
  release_successors(op);
}

void PlanExchange::release_successors(OpId op) {
  for (std::uint32_t k = successor_begin_[op]; k < successor_begin_[op + 1]; ++k)
    if (--waiting_[successors_[k]] == 0) ready_.push_back(successors_[k]);
  if (--not_complete_ == 0) edges_.end();
}

// The order is that in which operations became ready (the planners' order of messages), but
// messages come before copies.
void PlanExchange::start_ready() {
  for (std::size_t next = 0; next < ready_.size();) {
    const auto message = std::find_if(ready_.begin() + static_cast<std::ptrdiff_t>(next),
                                      ready_.end(), [&](OpId op) { return !is_copy_[op]; });
    if (message != ready_.end())
      std::rotate(ready_.begin() + static_cast<std::ptrdiff_t>(next), message, message + 1);
    start_operation(ready_[next++]);
  }
  ready_.clear();
}

void PlanExchange::complete_transfer(int index) {
  const OpId op = operation_of_[index];
  --active_transfers_;
  if (--outstanding_[op] == 0) complete(op);
}

// Everything has started and every message is there: only unpacking is left.
void PlanExchange::finish_all() {
  if (burst_)
    run(burst_->unpacking);
  else
    for (OpId op : unpacking_)
      if (outstanding_[op] > 0) run(program_.steps[op].after);
  not_complete_ = 0;
  active_transfers_ = 0;
}

// Tests the messages by MPI. Returns whether any is complete.
bool PlanExchange::complete_some() {
  const int count = static_cast<int>(by_mpi_.requests.size());
  int done = 0;
  call_mpi("MPI_Testsome", [&] {
    return MPI_Testsome(count, by_mpi_.requests.data(), &done, completed_.data(),
                        MPI_STATUSES_IGNORE);
  });
  for (int k = 0; k < done; ++k) complete_transfer(completed_[k]);
  return done > 0;
}

// One look where there are no edges.
bool PlanExchange::look_by_mpi() {
  if (not_started_ > 0 || !unpack_at_end_) {
    const bool moved = complete_some();
    start_ready();
    return moved;
  }
  int all = 0;
  call_mpi("MPI_Testall", [&] {
    return MPI_Testall(static_cast<int>(by_mpi_.requests.size()), by_mpi_.requests.data(), &all,
                       MPI_STATUSES_IGNORE);
  });
  if (all) finish_all();
  return all != 0;
}

bool PlanExchange::advance() {
  bool moved = edges_.poll(done_);
  if (!moved && active_transfers_ == 0) return false;
  for (OpId op : done_) release_successors(op);
  done_.clear();
  if (active_transfers_ > 0 && complete_some()) moved = true;
  start_ready();
  return moved;
}

bool PlanExchange::test() {
  if (edges_.any()) return PolledExchange::test();
  if (not_complete_ > 0) test_by([this] { return look_by_mpi(); });
  return not_complete_ == 0;
}

// By testing, not by MPI_Waitall: from that nobody would hear what it waits for, nor that a rank
// has died.
void PlanExchange::wait() {
  if (edges_.any()) return PolledExchange::wait();
  wait_by([this] { return look_by_mpi(); });
}

void PlanExchange::progress() {
  edges_.progress();
  if (active_transfers_ == 0) PolledExchange::progress();  // otherwise testing them does it
}

bool PlanExchange::under_way(std::size_t transfer) const {
  const MPI_Request request = by_mpi_.requests[transfer];
  int complete = 1;  // also if it was not started
  if (request != MPI_REQUEST_NULL)
    check_mpi(MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE),
              "MPI_Request_get_status");
  return !complete;
}

void PlanExchange::check_peers() const {
  edges_.check(peers_, options_.node.get());
  for (std::size_t k = 0; active_transfers_ > 0 && k < by_mpi_.transfers.size(); ++k)
    if (under_way(k)) check_alive(options_.node.get(), by_mpi_.transfers[k].peer);
}

void PlanExchange::awaits(Awaited& awaited) const {
  edges_.awaits(awaited, peers_, options_.node.get());
  for (std::size_t k = 0; active_transfers_ > 0 && k < by_mpi_.transfers.size(); ++k) {
    const Transfer& t = by_mpi_.transfers[k];
    if (!under_way(k)) continue;
    int size = 0;
    if (t.type != MPI_DATATYPE_NULL) MPI_Type_size(t.type, &size);
    awaited.add(t.send ? Awaited::What::taking : Awaited::What::message, options_.node.get(),
                t.peer, 0, static_cast<Bytes>(size) * static_cast<Bytes>(t.count));
  }
}

void PlanExchange::rebind(Shifts shifts) {
  bound_.resize(shifts.size());  // at the first time those of init: all 0
  if (std::ranges::equal(shifts, bound_)) return;
  if (in_buffers_) rebind_messages(shifts);
  rebind_copies(shifts);
  edges_.bind();
}

void PlanExchange::rebind_copies(Shifts shifts) {
  if (program_.moves.size() + program_.pieces.size() <= few_copies && take_kept(shifts)) return;
  steps_.resize(shifts.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) steps_[k] = shifts[k] - bound_[k];
  shift_copies(program_, steps_);
  bound_.assign(shifts.begin(), shifts.end());
}

// Keeps the copies as they are, and takes those for these shifts, if they were kept.
bool PlanExchange::take_kept(Shifts shifts) {
  const auto known = std::ranges::find_if(
      kept_, [&](const BoundCopies& c) { return std::ranges::equal(c.shifts, shifts); });
  if (known != kept_.end()) {
    known->shifts.swap(bound_), known->moves.swap(program_.moves);
    known->pieces.swap(program_.pieces);
    return true;
  }
  const bool room = kept_.size() < most_others;
  if (room) kept_.reserve(most_others), kept_.emplace_back();
  BoundCopies& other = room ? kept_.back() : kept_[next_kept_++ % most_others];
  other.shifts = bound_, other.moves = program_.moves, other.pieces = program_.pieces;
  return false;
}

// Persistent requests and datatypes cannot be moved. A few pairs of buffers get their own; for
// further ones Isend and Irecv take any address.
void PlanExchange::rebind_messages(Shifts shifts) {
  by_mpi_.shifts.resize(shifts.size());
  const auto has_shifts = [&](const BoundMessages& m) {
    return std::ranges::equal(m.shifts, shifts);
  };
  auto known = std::ranges::find_if(others_, has_shifts);
  if (known == others_.end()) {
    const bool room = others_.size() < most_others;
    if (room) others_.reserve(most_others), others_.emplace_back();
    known = room ? others_.end() - 1
                 : others_.begin() + static_cast<std::ptrdiff_t>(next_other_++ % most_others);
    known->persistent = options_.persistent && room;
    known->copy_to(shifts, by_mpi_, program_, tags());
  }
  by_mpi_.swap(*known);
}

std::string PlanExchange::channel_mix() const {
  const std::string edges = edges_.channel_mix();
  if (edges.empty() || messages_ == 0) return edges;
  return text(edges, ", ", messages_, " p2p-packed");
}

const std::byte* PlanExchange::view(std::size_t block) const {
  return program_.views.empty() ? nullptr
                                : program_.views[block][static_cast<std::size_t>(edges_.parity())];
}

}  // namespace tonari
