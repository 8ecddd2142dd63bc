// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/direct_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "memory/program_stores.hpp"

namespace tonari {
namespace {

std::byte* first_piece(std::byte* base, const Layout& layout) {
  return moved(base, layout.runs()[0].offset);
}

Bytes bytes_of(const MessageHead& head, std::size_t blocks) {
  const bool one_block = head.detail == static_cast<std::uint32_t>(Collective::allgather);
  return one_block && blocks > 0 ? head.sent / blocks : head.sent;
}

}  // namespace

// ---- the exchange

DirectExchange::DirectExchange(std::shared_ptr<Streams> streams, WaitPolicy wait, Notices notices)
    : StreamedExchange(std::move(streams), wait),
      notices_(notices),
      links_(std::make_unique<Link[]>(streams_->size())),
      long_messages_(wait.crowded ? LongMessages::Sample::turn : LongMessages::Sample::call) {
  for (std::size_t k = 0; k < streams_->size(); ++k) {
    const NeighborEdges& edges = (*streams_)[k].edges;
    links_[k].to.resize(std::max<std::size_t>(1, edges.received.size()));
    messages_ += !edges.sent.empty();
  }
}

void DirectExchange::start() {
  const bool reads = long_messages_.begin(bound_ ? bound_->longest : 0);
  read_from_ = reads ? LongMessages::least : LongMessages::most;
  spent_ = {};
  timed([&] { start_all(); });
}

bool DirectExchange::test() {
  timed([&] { StreamedExchange::test(); });
  return finished();
}

void DirectExchange::wait() {
  timed([&] { StreamedExchange::wait(); });
}

template <class Part>
void DirectExchange::timed(const Part& part) {
  if (!long_messages_.timed()) return part();
  const auto from = LongMessages::Clock::now();
  part();
  spent_ += LongMessages::Clock::now() - from;
  if (finished()) long_messages_.took(spent_);
}

void DirectExchange::start_all() {
  failure_.begin();
  for (std::size_t k = 0; k < streams_->size(); ++k) {
    StreamPeer& peer = (*streams_)[k];
    Link& link = links_[k];
    if (!peer.edges.sent.empty()) {
      link.out_ticket = peer.out_queue.join();
      link.out = Stage::head, ++left_;
    }
    if (!peer.edges.received.empty()) {
      link.in_ticket = peer.in_queue.join();
      link.in = Stage::head, ++left_;
      link.asked = false;
      if (peer.in_queue.serves(link.in_ticket))
        expect(peer, link, bound_ ? &bound_->messages[k] : nullptr);
    }
  }
  for (std::size_t k = 0; k < streams_->size(); ++k)
    if (links_[k].out != Stage::done) step_out(k);
  copy_self();
  if (left_ == 0) failure_.rethrow();
}

void DirectExchange::copy_self() const {
  if (!bound_) return;
  for (Move move : bound_->self) {
    move.from = moved(move.from, distance(bound_->self_from, spaces_[send_space]));
    move.to = moved(move.to, distance(bound_->self_to, spaces_[recv_space]));
    run_moves({&move, 1});
  }
}

bool DirectExchange::advance() {
  const bool moved = step_all();
  if (moved && left_ == 0) failure_.rethrow();
  return moved;
}

// Between nodes, one look at what is not there lets the MPI proceed for all messages, so that is
// enough for one step: the others may be there at the next. What comes and what goes take turns.
bool DirectExchange::step_all() {
  bool moved = false, missed = false;
  const bool in_first = ++steps_ % 2;
  for (const bool in : {in_first, !in_first})
    for (std::size_t k = 0; k < streams_->size(); ++k) {
      if ((in ? links_[k].in : links_[k].out) == Stage::done) continue;
      const bool by_mpi = !(*streams_)[k].shared;
      // A message that is not sent yet may be what another rank waits for.
      if (by_mpi && missed && (in || links_[k].out == Stage::taken)) continue;
      if (in ? step_in(k) : step_out(k))
        moved = true;
      else
        missed = missed || by_mpi;
    }
  return moved;
}

void DirectExchange::check_peers() const {
  for (std::size_t k = 0; k < streams_->size(); ++k)
    if (links_[k].out != Stage::done || links_[k].in != Stage::done)
      streams_->check((*streams_)[k]);
}

// ---- as a sender

bool DirectExchange::step_out(std::size_t k) {
  StreamPeer& peer = (*streams_)[k];
  Link& link = links_[k];
  if (!peer.out_queue.serves(link.out_ticket)) return false;
  const DirectMessages::Message* const message = bound_ ? &bound_->messages[k] : nullptr;
  if (link.out == Stage::head) return begin_out(peer, link, message);
  if (link.out == Stage::parts) return send_parts(peer, link, *message);
  if (!peer.out->taken()) return false;
  end_out(peer, link);
  return true;
}

bool DirectExchange::begin_out(StreamPeer& peer, Link& link,
                               const DirectMessages::Message* message) {
  if (message && peer.out->is_bare(message->head, message->send.bytes())) {
    push_bare(*peer.out, *message);
    link.out = Stage::taken;
    return true;
  }
  std::byte* const at = peer.out->first();
  if (!at) return false;
  if (!message) {
    push_failure(*peer.out, at);
    end_out(peer, link);
    return true;
  }
  const Bytes all = message->send.bytes();
  if (all >= read_from_ && peer.reads_memory && message->pieces <= most_pieces) {
    std::byte* next = at;
    for_pieces(message->send, base(message->send_from), [&](const Piece& piece) {
      std::memcpy(next, &piece, sizeof piece);
      next += sizeof piece;
    });
    MessageHead head = message->head;
    head.kind = MessageHead::listed;
    order_program_stores();
    peer.out->push_first(head, static_cast<std::size_t>(next - at));
    link.out = Stage::taken;
    return true;
  }
  link.sent = std::min<Bytes>(all, peer.out->first_room());
  if (link.sent == all && message->pieces == 1) {
    std::memcpy(at, first_piece(base(message->send_from), message->send), all);
  } else {
    link.from = Walk(base(message->send_from), message->send);
    link.from.gather(at, link.sent);
  }
  peer.out->push_first(message->head, link.sent);
  link.out = Stage::parts;
  send_parts(peer, link, *message);
  return true;
}

void DirectExchange::push_bare(OutStream& out, const DirectMessages::Message& message) const {
  const Bytes all = message.send.bytes();
  std::byte* const from = base(message.send_from);
  if (message.pieces == 1) return out.push_bare(first_piece(from, message.send), all);
  std::byte* const packed = out.bare_place(all);
  Walk(from, message.send).gather(packed, all);
  out.push_bare(packed, all);
}

bool DirectExchange::send_parts(StreamPeer& peer, Link& link,
                                const DirectMessages::Message& message) {
  const Bytes all = message.send.bytes();
  bool moved = false;
  while (link.sent < all) {
    std::byte* const at = peer.out->more();
    if (!at) return moved;
    const std::size_t some = std::min<Bytes>(all - link.sent, peer.out->room());
    link.from.gather(at, some);
    peer.out->push_more(some);
    link.sent += some;
    moved = true;
  }
  if (peer.out->stays(all))
    link.out = Stage::taken;
  else
    end_out(peer, link);
  return true;
}

void DirectExchange::end_out(StreamPeer& peer, Link& link) {
  if (peer.edges.received.empty()) look_for_notice(peer);
  link.out = Stage::done;
  --left_;
  peer.out_queue.next();
}

void DirectExchange::push_failure(OutStream& out, std::byte* at) const {
  const std::size_t length = failure_.write(at, out.first_room());
  out.push_first({MessageHead::failed, static_cast<std::uint32_t>(failure_.code())}, length);
}

// A rank that sends nothing here tells in this way that what it received was wrong. The exchange
// that has the turn to send looks.
void DirectExchange::look_for_notice(StreamPeer& peer) {
  MessageHead head;
  std::size_t bytes = 0;
  const std::byte* const at = peer.in->first(head, bytes);
  if (!at) return;
  failure_.add_told(peer.edges.rank, head.detail, at, bytes);
  peer.in->release();
}

void DirectExchange::hear_notices(Streams& earlier) {
  failure_.begin();
  for (std::size_t k = 0; k < earlier.size(); ++k)
    if (earlier[k].edges.received.empty()) look_for_notice(earlier[k]);
  failure_.hold();
}

// ---- as a receiver

bool DirectExchange::step_in(std::size_t k) {
  StreamPeer& peer = (*streams_)[k];
  Link& link = links_[k];
  if (!peer.in_queue.serves(link.in_ticket)) return false;
  const DirectMessages::Message* const message = bound_ ? &bound_->messages[k] : nullptr;
  return link.in == Stage::head ? begin_in(peer, link, message)
                                : receive_parts(peer, link, message);
}

// A message that comes without its head goes to its place, if that is one piece.
void DirectExchange::expect(StreamPeer& peer, Link& link, const DirectMessages::Message* message) {
  link.asked = true;
  const MessageHead* const head = peer.in->bare_head();
  if (!head) return;
  const Bytes bytes = bytes_of(*head, peer.edges.received.size());
  if (!may_be_bare(bytes)) return;
  const bool straight = message && message->whole && head->detail == message->head.detail &&
                        head->sent == message->head.expected &&
                        head->sent_print == message->head.expected_print;
  peer.in->expect_bare(
      straight ? first_piece(base(message->receive_to), message->recv[0]) : nullptr, bytes);
}

// Most looks find nothing, so they cost little.
bool DirectExchange::begin_in(StreamPeer& peer, Link& link,
                              const DirectMessages::Message* message) {
  if (!link.asked) expect(peer, link, message);
  std::size_t bytes;
  const std::byte* const at = peer.in->first(link.head, bytes);
  if (!at) return false;
  take_first(peer, link, message, at, bytes);
  return true;
}

void DirectExchange::take_first(StreamPeer& peer, Link& link,
                                const DirectMessages::Message* message, const std::byte* at,
                                std::size_t bytes) {
  const MessageHead& head = link.head;
  if (head.kind >= MessageHead::hop) fail_on_ways(streams_->rank(), peer.edges.rank);
  link.drop = !message;
  if (head.kind == MessageHead::failed) {
    failure_.add_told(peer.edges.rank, head.detail, at, bytes);
    peer.in->release();
    link.drop = false;  // it knows
    return end_in(peer, link);
  }
  if (message) judge(peer, link, *message, head);
  link.incoming = bytes_of(head, peer.edges.received.size());
  link.received = link.incoming;
  if (head.kind == MessageHead::listed) {
    std::array<Piece, most_pieces> from;
    const std::size_t count = std::min(bytes / sizeof(Piece), most_pieces);
    std::memcpy(from.data(), at, count * sizeof(Piece));
    for (std::size_t n = 0; !link.drop && n < message->recv.size(); ++n)
      reader_.read(*streams_, peer, std::span(from).first(count), base(message->receive_to),
                   message->recv[n], message->scattered);
  } else if (!link.drop && bytes == link.incoming && message->whole) {
    link.received = bytes;
    std::byte* const to = first_piece(base(message->receive_to), message->recv[0]);
    if (at != to) std::memcpy(to, at, bytes);
  } else {
    link.received = bytes;
    for (std::size_t n = 0; !link.drop && n < message->recv.size(); ++n) {
      link.to[n] = Walk(base(message->receive_to), message->recv[n]);
      link.to[n].scatter(at, bytes);
    }
  }
  peer.in->release();
  if (link.received == link.incoming)
    end_in(peer, link);
  else
    link.in = Stage::parts, receive_parts(peer, link, message);
}

// Finds out whether what comes goes with what this rank expects, and what goes with what the other
// expects.
void DirectExchange::judge(StreamPeer& peer, Link& link, const DirectMessages::Message& message,
                           const MessageHead& head) {
  const MessageHead& mine = message.head;
  if (head.detail == mine.detail && head.sent == mine.expected &&
      head.sent_print == mine.expected_print && head.expected == mine.sent &&
      head.expected_print == mine.sent_print)
    return;
  streams_->learn_numbers(peer);
  const auto wrong = misfit(*bound_, message, peer, streams_->rank(), head);
  link.drop = wrong->drop;
  failure_.add(peer.edges.rank, wrong->error);
}

bool DirectExchange::receive_parts(StreamPeer& peer, Link& link,
                                   const DirectMessages::Message* message) {
  bool moved = false;
  while (link.received < link.incoming) {
    std::size_t some = 0;
    const std::byte* const at = peer.in->more(link.incoming - link.received, some);
    if (!at) return moved;
    for (std::size_t n = 0; !link.drop && n < message->recv.size(); ++n)
      link.to[n].scatter(at, some);
    peer.in->release();
    link.received += some;
    moved = true;
  }
  end_in(peer, link);
  return true;
}

void DirectExchange::end_in(StreamPeer& peer, Link& link) {
  // Without an edge back this is how the sender learns of it; if there is no room, it knows of
  // earlier ones that it has not looked at.
  if (link.drop && peer.edges.sent.empty() && notices_ == Notices::sent)
    if (std::byte* const at = peer.out->first()) push_failure(*peer.out, at);
  link.in = Stage::done;
  --left_;
  peer.in_queue.next();
}

// ---- reports

void DirectExchange::awaits(Awaited& awaited) const {
  if (!call_) awaited.in("a one-shot call");
  for (std::size_t k = 0; k < streams_->size(); ++k) {
    const Link& link = links_[k];
    const std::int32_t rank = (*streams_)[k].edges.rank;
    const MessageHead* const head = bound_ ? &bound_->messages[k].head : nullptr;
    if (link.in != Stage::done)
      awaited.add(Awaited::What::message, &streams_->node(), rank,
                  link.in == Stage::parts ? link.received : 0, head ? head->expected : 0);
    if (link.out != Stage::done)
      awaited.add(Awaited::What::taking, &streams_->node(), rank,
                  link.out == Stage::parts ? link.sent : 0, head ? head->sent : 0);
  }
}

}  // namespace tonari
