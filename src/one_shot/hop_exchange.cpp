// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/hop_exchange.hpp"

#include <algorithm>

#include "copy/walk.hpp"

namespace tonari {
namespace {

// The head of a message has the operation and the message's tag, its bytes, and those of a block.
constexpr std::uint32_t tag_bits = 8;
std::uint32_t detail_of(const HopPlan& plan, OpId op) {
  return static_cast<std::uint32_t>(plan.plan[op].tag) << tag_bits |
         static_cast<std::uint32_t>(plan.collective);
}

Error different_sizes(std::int32_t one, Bytes bytes, std::int32_t other, Bytes other_bytes) {
  if (other < one) std::swap(one, other), std::swap(bytes, other_bytes);
  return {Errc::mismatch, text("rank ", one, " calls with blocks of ", bytes, " bytes, and rank ",
                               other, " with blocks of ", other_bytes, "; all must have the same")};
}

}  // namespace

HopExchange::HopExchange(std::shared_ptr<Streams> streams, WaitPolicy wait)
    : StreamedExchange(std::move(streams), wait), links_(streams_->size()) {}

void HopExchange::make_room(const HopPlan& plan) {
  const std::size_t all = plan.plan.size();
  waiting_.resize(all), spoiled_.resize(all), arrived_.resize(all);
  ready_.reserve(all), sending_.reserve(all);
}

void HopExchange::bind(const HopMessages& messages, const Spaces& spaces) {
  make_room(*messages.plan);
  if (scratch_.bytes() < messages.scratch) scratch_ = Memory(messages.scratch);
  plan_ = messages.plan.get();
  bind_to(messages, spaces);
}

void HopExchange::refuse(const HopPlan& plan, const Error& why) {
  make_room(plan);
  plan_ = &plan;
  refuse_all(why);
}

void HopExchange::start() {
  failure_.begin();
  const Plan& plan = plan_->plan;
  std::fill(spoiled_.begin(), spoiled_.end(), failure_.refused());
  std::fill(arrived_.begin(), arrived_.end(), false);
  next_ = 0;
  join();
  left_ = plan.size();
  ready_.clear(), sending_.clear();
  for (OpId op = 0; op < plan.size(); ++op) waiting_[op] = plan.predecessor_count(op);
  for (OpId op = 0; op < plan.size(); ++op)
    if (plan.predecessor_count(op) == 0) ready(op);
  send_some();
  run_copies();
  if (left_ == 0) failure_.rethrow();
}

void HopExchange::join() {
  for (std::size_t k = 0; k < links_.size(); ++k) {
    const HopPlan::Peer& peer = plan_->peers[k];
    links_[k] = {};
    links_[k].to_send = peer.sent;
    links_[k].to_receive = static_cast<std::uint32_t>(peer.received.size());
    if (peer.sent > 0) links_[k].out_ticket = (*streams_)[k].out_queue.join();
    if (!peer.received.empty()) links_[k].in_ticket = (*streams_)[k].in_queue.join();
  }
}

// ---- the plan

// All that the operation waited for is there. Receives are looked for anyway.
void HopExchange::ready(OpId op) {
  const Kind kind = plan_->plan[op].kind;
  if (kind == Kind::send) sending_.push_back(op);
  if (kind == Kind::copy) ready_.push_back(op);
}

void HopExchange::finish(OpId op) {
  --left_;
  for (const OpId next : plan_->plan.successors(op)) {
    if (spoiled_[op]) spoiled_[next] = true;
    if (--waiting_[next] == 0) ready(next);
  }
}

void HopExchange::run_copies() {
  while (!ready_.empty()) {
    const OpId op = ready_.back();
    ready_.pop_back();
    run_copy(op);
    finish(op);
  }
}

void HopExchange::run_copy(OpId op) const {
  if (spoiled_[op]) return;
  for (const HopMessages::Copy& copy : bound_->copies[op]) {
    Move move = copy.move;
    move.from = moved(base(copy.from), distance(nullptr, move.from));
    move.to = moved(base(copy.to), distance(nullptr, move.to));
    run_moves({&move, 1});
  }
}

bool HopExchange::advance() {
  bool moved = receive_some();
  moved |= send_some();
  run_copies();
  if (moved && left_ == 0) failure_.rethrow();
  return moved;
}

void HopExchange::check_peers() const {
  for (std::size_t k = 0; k < links_.size(); ++k)
    if (links_[k].to_send > 0 || links_[k].to_receive > 0 || links_[k].taking)
      streams_->check((*streams_)[k]);
}

// ---- messages to send

bool HopExchange::send_some() {
  bool moved = false;
  for (std::size_t next = 0; next < sending_.size();) {
    if (!send(sending_[next])) {
      ++next;
      continue;
    }
    sending_.erase(sending_.begin() + static_cast<std::ptrdiff_t>(next));
    moved = true;
  }
  for (std::size_t k = 0; k < links_.size(); ++k)
    if (links_[k].taking && (*streams_)[k].out->taken()) {
      links_[k].taking = false;
      --left_;
      (*streams_)[k].out_queue.next();
      moved = true;
    }
  return moved;
}

bool HopExchange::send(OpId op) {
  const std::size_t k = plan_->stream_of[op];
  StreamPeer& peer = (*streams_)[k];
  Link& link = links_[k];
  if (!peer.out_queue.serves(link.out_ticket)) return false;
  std::byte* const at = peer.out->first();
  if (!at) return false;
  if (spoiled_[op]) {
    push_failure(*peer.out, at, op);
  } else {
    std::byte* to = at;
    for (const HopMessages::Part& part : bound_->parts[op]) {
      Walk(base(part.space), part.layout).gather(to, part.layout.bytes());
      to += part.layout.bytes();
    }
    const Bytes length = bound_->lengths[op];
    peer.out->push_first({MessageHead::hop, detail_of(*plan_, op), length, 0, bound_->block, 0},
                         length);
    link.stays |= peer.out->stays(length);
  }
  finish(op);
  if (--link.to_send == 0) end_out(k);
  return true;
}

void HopExchange::end_out(std::size_t k) {
  Link& link = links_[k];
  link.taking = link.stays;
  if (link.taking)
    ++left_;
  else
    (*streams_)[k].out_queue.next();
}

void HopExchange::push_failure(OutStream& out, std::byte* at, OpId op) const {
  const std::size_t length = failure_.write(at, out.first_room());
  out.push_first({MessageHead::hop_failed, detail_of(*plan_, op),
                  static_cast<Bytes>(failure_.code()), 0, 0, 0},
                 length);
}

// ---- messages that come

// Messages are taken in the order of the rounds, in which they are needed. What has not arrived
// costs one look, which lets the MPI proceed for all.
bool HopExchange::receive_some() {
  bool moved = false;
  for (; next_ < plan_->arriving.size() && receive(plan_->stream_of[plan_->arriving[next_]]);) {
    moved = true;
    while (next_ < plan_->arriving.size() && arrived_[plan_->arriving[next_]]) ++next_;
  }
  return moved;
}

bool HopExchange::receive(std::size_t k) {
  StreamPeer& peer = (*streams_)[k];
  Link& link = links_[k];
  if (!peer.in_queue.serves(link.in_ticket)) return false;
  MessageHead head;
  std::size_t bytes = 0;
  const std::byte* const at = peer.in->first(head, bytes);
  if (!at) return false;
  const OpId op = operation_of(k, head);
  take(op, head, at, bytes);
  peer.in->release();
  arrived_[op] = true;
  finish(op);
  if (--link.to_receive == 0) peer.in_queue.next();
  return true;
}

OpId HopExchange::operation_of(std::size_t k, const MessageHead& head) const {
  const std::vector<OpId>& expected = plan_->peers[k].received;
  const auto found =
      std::ranges::find(expected, head.detail, [&](OpId op) { return detail_of(*plan_, op); });
  const bool hop = head.kind == MessageHead::hop || head.kind == MessageHead::hop_failed;
  if (!hop || found == expected.end()) fail_on_ways(streams_->rank(), (*streams_)[k].edges.rank);
  return *found;
}

void HopExchange::take(OpId op, const MessageHead& head, const std::byte* at, std::size_t bytes) {
  const std::int32_t rank = plan_->plan[op].peer;
  if (head.kind == MessageHead::hop_failed) {
    spoiled_[op] = true;
    return failure_.add_told(rank, head.sent, at, bytes);
  }
  if (!bound_) return;
  if (head.expected != bound_->block || bytes != bound_->lengths[op]) {
    spoiled_[op] = true;
    return failure_.add(rank,
                        different_sizes(streams_->rank(), bound_->block, rank, head.expected));
  }
  for (const HopMessages::Part& part : bound_->parts[op]) {
    Walk(base(part.space), part.layout).scatter(at, part.layout.bytes());
    at += part.layout.bytes();
  }
}

// ---- reports

void HopExchange::awaits(Awaited& awaited) const {
  if (!call_) awaited.in("a one-shot call");
  const auto cannot_leave = [this](std::size_t k) {  // it takes none now
    return std::ranges::any_of(sending_, [&](OpId op) { return plan_->stream_of[op] == k; });
  };
  for (std::size_t k = 0; k < links_.size(); ++k) {
    const std::int32_t rank = (*streams_)[k].edges.rank;
    if (links_[k].to_receive > 0) awaited.add(Awaited::What::message, &streams_->node(), rank);
    if (links_[k].taking || cannot_leave(k))
      awaited.add(Awaited::What::taking, &streams_->node(), rank);
  }
}

}  // namespace tonari
