// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/edge_queue.hpp"

#include <algorithm>

namespace tonari {

EdgeQueue::EdgeQueue(Edges edges, const P2pProgram& program)
    : edges_(std::move(edges)), program_(program) {
  if (!any()) return;
  part_.resize(program.steps.size());
  under_way_.reserve(program.steps.size());
  for (OpId op = 0; op < program.steps.size(); ++op) {
    if (!has(op)) continue;
    const P2pProgram::Step& step = program.steps[op];
    if (edges_.out[op])
      ++messages_;
    else if (step.viewed)
      viewed_.push_back(op);
    else if (step.passes_on)
      passes_on_.push_back(op);
  }
  bind();
}

void EdgeQueue::bind() {
  if (program_.pieces.empty()) return;
  for (OpId op = 0; op < program_.steps.size(); ++op) {
    const Range range = program_.steps[op].pieces;
    const auto pieces = std::span(program_.pieces).subspan(range.begin, range.size());
    if (pieces.empty()) continue;
    if (edges_.out[op])
      edges_.out[op]->bound(pieces);
    else
      edges_.in[op]->bound(pieces);
  }
}

void EdgeQueue::begin() {
  if (viewing_) give_back(viewed_);
  viewing_ = !viewed_.empty();
  parity_ ^= 1;
}

void EdgeQueue::end() { give_back(passes_on_); }

void EdgeQueue::give_back(const std::vector<OpId>& held) {
  for (OpId op : held) edges_.in[op]->taken(0, parity_);  // such messages are of one part
}

bool EdgeQueue::start(OpId op) {
  part_[op] = 0;
  if (advance(op)) return true;
  under_way_.push_back(op);
  return false;
}

bool EdgeQueue::poll(std::vector<OpId>& done) {
  went_on_ = false;
  std::size_t kept = 0;
  for (OpId op : under_way_) {
    if (advance(op))
      done.push_back(op);
    else
      under_way_[kept++] = op;
  }
  under_way_.resize(kept);
  return went_on_;
}

void EdgeQueue::run(const P2pProgram::Moves& moves) const {
  const Range range = moves[static_cast<std::size_t>(parity_)];
  run_moves(std::span(program_.moves).subspan(range.begin, range.size()));
}

bool EdgeQueue::advance(OpId op) { return edges_.out[op] ? advance_send(op) : advance_recv(op); }

bool EdgeQueue::advance_send(OpId op) {
  OutEdge& edge = *edges_.out[op];
  const P2pProgram::Step& step = program_.steps[op];
  const std::size_t parts = edge.slots().size();
  const bool was_written = part_[op] == parts;
  for (std::uint32_t& part = part_[op]; part < parts; ++part) {
    if (!edge.may_write(part, parity_)) return false;
    run(step.parts.size() > 0 ? program_.parts[step.parts.begin + part] : step.before);
    edge.written(part, parity_);
    went_on_ = true;
  }
  if ((edge.sent_together() && !was_written) || !edge.sent(parity_)) return false;
  went_on_ = true;
  return true;
}

bool EdgeQueue::advance_recv(OpId op) {
  InEdge& edge = *edges_.in[op];
  const P2pProgram::Step& step = program_.steps[op];
  const std::size_t parts = edge.slots().size();
  for (std::uint32_t& part = part_[op]; part < parts; ++part) {
    if (!edge.arrived(part, parity_)) return false;
    run(step.parts.size() > 0 ? program_.parts[step.parts.begin + part] : step.after);
    if (!step.viewed && !step.passes_on) edge.taken(part, parity_);
    went_on_ = true;
  }
  return true;
}

std::size_t EdgeQueue::bytes() const {
  std::size_t sum = 0;
  for (const std::shared_ptr<Link>& link : edges_.links) sum += link->bytes();
  return sum;
}

std::string EdgeQueue::channel_mix() const {
  std::string all;
  for (const std::shared_ptr<Link>& link : edges_.links)
    if (link->messages() > 0)
      all += text(all.empty() ? "" : ", ", link->messages(), " ", link->channel);
  return all;
}

void EdgeQueue::progress() {
  for (const std::shared_ptr<Link>& link : edges_.links) link->progress();
}

void EdgeQueue::give_up() {
  for (const std::shared_ptr<Link>& link : edges_.links) link->give_up();
}

void EdgeQueue::check(std::span<const std::int32_t> peers, const Node* node) const {
  for (OpId op : under_way_) {
    edges_.out[op] ? edges_.out[op]->check() : edges_.in[op]->check();
    check_alive(node, peers[op]);  // windows know nothing of it
  }
}

void EdgeQueue::awaits(Awaited& awaited, std::span<const std::int32_t> peers,
                       const Node* node) const {
  for (OpId op : under_way_) {
    const std::vector<MessageSlot>& slots = edges_.slots(op);
    const Bytes done = part_[op] == 0 ? 0 : slots[part_[op] - 1].end;
    awaited.add(edges_.out[op] ? Awaited::What::taking : Awaited::What::message, node, peers[op],
                done, slots.back().end);
  }
}

}  // namespace tonari
