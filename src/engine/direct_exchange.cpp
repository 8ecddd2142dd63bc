#include "engine/direct_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "base/hash.hpp"
#include "memory/program_stores.hpp"

namespace tonari {
namespace {

// From here on messages are read where they lie, if the system allows that: below, the second copy
// costs less than the system call.
constexpr Bytes worth_single_copy = std::size_t{256} << 10;

// Sums of sizes with a factor for each place: if one size differs, the sums tell which.
std::uint64_t factor(std::size_t place) { return Hash().word(place).value() | 1; }
Bytes sum(const std::vector<Bytes>& sizes) {
  Bytes all = 0;
  for (Bytes size : sizes) all = checked_add(all, size, "bytes of a message");
  return all;
}
std::uint64_t print(const std::vector<Bytes>& sizes) {
  std::uint64_t all = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) all += sizes[k] * factor(k);
  return all;
}

[[noreturn]] void fail_on_block(std::uint32_t number, std::int32_t sender, std::int32_t receiver,
                                Bytes there, Bytes here) {
  fail(Errc::mismatch, "block ", number, " from rank ", sender, " to rank ", receiver, " has ",
       there, " bytes at the sender and ", here, " at the receiver; both must be the same");
}

// The sizes of one direction, as this rank and as the neighbor has them.
struct Difference {
  const std::vector<Bytes>& sizes;
  const std::vector<std::uint32_t>& numbers;  // of blocks, as the receiver's program has them
  Bytes sum, other_sum;
  std::uint64_t print, other_print;
  std::int32_t sender, receiver;
  bool receives;  // this rank

  explicit operator bool() const { return sum != other_sum || print != other_print; }
  [[noreturn]] void explain() const {
    const Bytes more = other_sum - sum;  // may wrap around
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (more * factor(k) != other_print - print) continue;
      const Bytes other = sizes[k] + more;
      fail_on_block(numbers[k], sender, receiver, receives ? other : sizes[k],
                    receives ? sizes[k] : other);
    }
    fail(Errc::mismatch, "the ", sizes.size(), " blocks from rank ", sender, " to rank ", receiver,
         " have ", receives ? other_sum : sum, " bytes in all at the sender and ",
         receives ? sum : other_sum, " at the receiver; each must have the same at both");
  }
};

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

void add(Layout& layout, const Block& block, const void* buffer) {
  const std::ptrdiff_t at = distance(buffer, block.address);
  if (block.layout)
    layout.add(*block.layout, at);
  else
    layout.add(at, block.bytes);
}

std::size_t pieces_of(const Layout& layout) {
  std::size_t pieces = 0;
  for (const Run& run : layout.runs()) pieces += run.count;
  return pieces;
}

// Calls visit for each piece of memory.
template <class Visit>
void for_pieces(const Layout& layout, const std::byte* base, const Visit& visit) {
  for (const Run& run : layout.runs())
    for (std::size_t k = 0; k < run.count; ++k)
      visit(Piece{address(base) + static_cast<std::uintptr_t>(
                                      run.offset + run.stride * static_cast<std::ptrdiff_t>(k)),
                  run.length});
}

Bytes bytes_of(const MessageHead& head, std::size_t blocks) {
  const bool one_block = head.detail == static_cast<std::uint32_t>(Collective::allgather);
  return one_block && blocks > 0 ? head.sent / blocks : head.sent;
}

}  // namespace

// ---- shapes

std::vector<NeighborEdges> neighbors_of(const LocalTopology& topology, int ranks) {
  const Vertex& vertex = topology.vertex;
  std::map<std::int32_t, NeighborEdges> found;  // by distance
  const auto of = [&](std::int32_t rank) -> NeighborEdges& {
    NeighborEdges& edges = found[(rank - vertex.rank + ranks) % ranks];
    edges.rank = rank;
    return edges;
  };
  for (std::uint32_t i = 0; i < vertex.targets.size(); ++i)
    if (vertex.targets[i] >= 0 && vertex.targets[i] != vertex.rank)
      of(vertex.targets[i]).sent.push_back(i);
  for (std::uint32_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0 && vertex.sources[j] != vertex.rank)
      of(vertex.sources[j]).received.push_back(j);
  std::vector<NeighborEdges> all;
  for (auto& [distance, edges] : found) {
    std::ranges::stable_sort(edges.received, {},
                             [&](std::uint32_t j) { return vertex.origins[j]; });
    for (std::uint32_t j : edges.received)
      edges.received_numbers.push_back(
          static_cast<std::uint32_t>(given_number(topology, Buffer::recv, j)));
    all.push_back(std::move(edges));
  }
  return all;
}

SelfEdges self_edges_of(const Vertex& vertex) {
  SelfEdges edges;
  for (std::uint32_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] == vertex.rank) edges.emplace_back(vertex.origins[j], j);
  return edges;
}

DirectShape direct_shape(Streams& streams, const LocalTopology& topology, const SelfEdges& self,
                         const Arguments& arguments, const Binding& binding) {
  DirectShape shape;
  shape.collective = arguments.collective;
  const bool gathers = arguments.collective == Collective::allgather;
  const auto sent = [&](std::uint32_t i) -> const Block& { return binding.send[gathers ? 0 : i]; };
  shape.messages.resize(streams.size());
  for (std::size_t k = 0; k < streams.size(); ++k) {
    DirectShape::Message& message = shape.messages[k];
    const NeighborEdges& edges = streams[k].edges;
    for (std::uint32_t i : edges.sent) {
      if (!gathers || message.sizes_out.empty()) add(message.send, sent(i), arguments.sendbuf);
      message.sizes_out.push_back(sent(i).bytes);
    }
    message.recv.resize(gathers ? edges.received.size() : 1);
    for (std::size_t n = 0; n < edges.received.size(); ++n) {
      const Block& block = binding.recv[edges.received[n]];
      add(message.recv[gathers ? n : 0], block, arguments.recvbuf);
      message.sizes_in.push_back(block.bytes);
    }
    message.head = {MessageHead::packed,    static_cast<std::uint32_t>(shape.collective),
                    sum(message.sizes_out), print(message.sizes_out),
                    sum(message.sizes_in),  print(message.sizes_in)};
    message.pieces = pieces_of(message.send);
    shape.bytes += message.send.bytes();
  }
  shape.self_from = arguments.sendbuf, shape.self_to = arguments.recvbuf;
  Layout out, in;  // of all, so that neighboring blocks are one move
  for (const auto& [i, j] : self) {
    const Block &from = sent(i), &to = binding.recv[j];
    if (from.bytes != to.bytes)
      fail_on_block(static_cast<std::uint32_t>(given_number(topology, Buffer::recv, j)),
                    topology.vertex.rank, topology.vertex.rank, from.bytes, to.bytes);
    add(out, from, arguments.sendbuf), add(in, to, arguments.recvbuf);
  }
  make_moves(shape.self, static_cast<std::byte*>(arguments.recvbuf), in,
             static_cast<const std::byte*>(arguments.sendbuf), out);
  return shape;
}

// ---- the exchange

DirectExchange::DirectExchange(std::shared_ptr<Streams> streams, WaitPolicy wait)
    : PolledExchange(streams->comm(), wait),
      streams_(std::move(streams)),
      links_(std::make_unique<Link[]>(streams_->size())) {
  for (std::size_t k = 0; k < streams_->size(); ++k) {
    const NeighborEdges& edges = (*streams_)[k].edges;
    links_[k].to.resize(std::max<std::size_t>(1, edges.received.size()));
    messages_ += !edges.sent.empty();
  }
}

DirectExchange::~DirectExchange() {
  if (left_ > 0 && !in_forked_child()) streams_->leave();
}

void DirectExchange::give_up() {
  if (left_ > 0) streams_->leave();
}

void DirectExchange::bind(const DirectShape& shape, const void* sendbuf, const void* recvbuf) {
  shape_ = &shape;
  // one is only read from; MPI's buffers are void*, whatever they are
  sendbuf_ = static_cast<std::byte*>(const_cast<void*>(sendbuf));
  recvbuf_ = static_cast<std::byte*>(const_cast<void*>(recvbuf));
  refused_ = false;
}

void DirectExchange::refuse(const Error& why) {
  shape_ = nullptr;
  refused_ = true;
  failure_ = why;
}

void DirectExchange::start() {
  if (!refused_) failure_.reset();
  failed_rank_ = -1;
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
    }
  }
  for (std::size_t k = 0; k < streams_->size(); ++k)
    if (links_[k].out != Stage::done) step_out(k);
  copy_self();
  if (left_ == 0) conclude();
}

void DirectExchange::copy_self() const {
  if (!shape_) return;
  for (Move move : shape_->self) {
    move.from = moved(move.from, distance(shape_->self_from, sendbuf_));
    move.to = moved(move.to, distance(shape_->self_to, recvbuf_));
    run_moves({&move, 1});
  }
}

bool DirectExchange::advance() {
  const bool moved = step_all();
  if (moved && left_ == 0) conclude();
  return moved;
}

bool DirectExchange::step_all() {
  bool moved = false;
  for (std::size_t k = 0; k < streams_->size(); ++k) {
    if (links_[k].out != Stage::done && step_out(k)) moved = true;
    if (links_[k].in != Stage::done && step_in(k)) moved = true;
  }
  return moved;
}

void DirectExchange::conclude() {
  if (failure_) throw *failure_;
}

void DirectExchange::failed(std::int32_t rank, const Error& error) {
  if (failure_ && (refused_ || failed_rank_ <= rank)) return;
  failure_ = error;
  failed_rank_ = rank;
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
  const DirectShape::Message* const message = shape_ ? &shape_->messages[k] : nullptr;
  if (link.out == Stage::head) return begin_out(peer, link, message);
  if (link.out == Stage::parts) return send_parts(peer, link, *message);
  if (!peer.out->taken()) return false;
  end_out(peer, link);
  return true;
}

bool DirectExchange::begin_out(StreamPeer& peer, Link& link, const DirectShape::Message* message) {
  std::byte* const at = peer.out->first();
  if (!at) return false;
  if (!message) {
    push_failure(*peer.out, at, *failure_);
    end_out(peer, link);
    return true;
  }
  const Bytes all = message->send.bytes();
  if (all >= worth_single_copy && peer.reads_memory && message->pieces <= most_pieces) {
    std::byte* next = at;
    for_pieces(message->send, sendbuf_, [&](const Piece& piece) {
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
  link.from = Walk(sendbuf_, message->send);
  link.sent = std::min<Bytes>(all, peer.out->first_room());
  link.from.gather(at, link.sent);
  peer.out->push_first(message->head, link.sent);
  link.out = Stage::parts;
  send_parts(peer, link, *message);
  return true;
}

bool DirectExchange::send_parts(StreamPeer& peer, Link& link, const DirectShape::Message& message) {
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

void DirectExchange::push_failure(OutStream& out, std::byte* at, const Error& error) const {
  const std::string_view sentence = error.what();
  const std::size_t length = std::min(sentence.size(), out.first_room());
  std::memcpy(at, sentence.data(), length);
  out.push_first({MessageHead::failed, static_cast<std::uint32_t>(error.code())}, length);
}

// Whoever sends nothing here tells in this way that what it received was wrong. By who has the turn
// to send.
void DirectExchange::look_for_notice(StreamPeer& peer) {
  MessageHead head;
  std::size_t bytes = 0;
  const std::byte* const at = peer.in->first(head, bytes);
  if (!at) return;
  failed(peer.edges.rank,
         Error(static_cast<Errc>(head.detail), {reinterpret_cast<const char*>(at), bytes}));
  peer.in->release();
}

// ---- as a receiver

bool DirectExchange::step_in(std::size_t k) {
  StreamPeer& peer = (*streams_)[k];
  Link& link = links_[k];
  if (!peer.in_queue.serves(link.in_ticket)) return false;
  const DirectShape::Message* const message = shape_ ? &shape_->messages[k] : nullptr;
  return link.in == Stage::head ? begin_in(peer, link, message)
                                : receive_parts(peer, link, message);
}

bool DirectExchange::begin_in(StreamPeer& peer, Link& link, const DirectShape::Message* message) {
  MessageHead head;
  std::size_t bytes = 0;
  const std::byte* const at = peer.in->first(head, bytes);
  if (!at) return false;
  link.drop = !message;
  if (head.kind == MessageHead::failed) {
    failed(peer.edges.rank,
           Error(static_cast<Errc>(head.detail), {reinterpret_cast<const char*>(at), bytes}));
    peer.in->release();
    link.drop = false;  // it knows
    end_in(peer, link);
    return true;
  }
  if (message) judge(peer, link, *message, head);
  link.incoming = bytes_of(head, peer.edges.received.size());
  link.received = link.incoming;
  if (head.kind == MessageHead::listed) {
    std::array<Piece, most_pieces> from;
    const std::size_t count = std::min(bytes / sizeof(Piece), most_pieces);
    std::memcpy(from.data(), at, count * sizeof(Piece));
    for (std::size_t n = 0; !link.drop && n < message->recv.size(); ++n)
      fetch(peer, std::span(from).first(count), message->recv[n]);
  } else {
    link.received = bytes;
    for (std::size_t n = 0; !link.drop && n < message->recv.size(); ++n) {
      link.to[n] = Walk(recvbuf_, message->recv[n]);
      link.to[n].scatter(at, bytes);
    }
  }
  peer.in->release();
  if (link.received == link.incoming)
    end_in(peer, link);
  else
    link.in = Stage::parts, receive_parts(peer, link, message);
  return true;
}

// Whether what comes goes with what this rank expects, and what goes with what the other expects.
void DirectExchange::judge(StreamPeer& peer, Link& link, const DirectShape::Message& message,
                           const MessageHead& head) {
  const MessageHead& mine = message.head;
  if (head.detail == mine.detail && head.sent == mine.expected &&
      head.sent_print == mine.expected_print && head.expected == mine.sent &&
      head.expected_print == mine.sent_print)
    return;
  const Difference in{message.sizes_in,
                      peer.edges.received_numbers,
                      mine.expected,
                      head.sent,
                      mine.expected_print,
                      head.sent_print,
                      peer.edges.rank,
                      streams_->rank(),
                      true};
  const Difference out{message.sizes_out, peer.sent_numbers, mine.sent,
                       head.expected,     mine.sent_print,   head.expected_print,
                       streams_->rank(),  peer.edges.rank,   false};
  link.drop = head.detail != mine.detail || in;
  failed(peer.edges.rank, *error_of([&] {
           if (head.detail != mine.detail)
             fail(Errc::mismatch, "some ranks call an all-to-all where others call an allgather");
           // the same one at both ends
           if (in && (!out || peer.edges.rank < streams_->rank())) in.explain();
           out.explain();
         }));
}

bool DirectExchange::receive_parts(StreamPeer& peer, Link& link,
                                   const DirectShape::Message* message) {
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
  if (link.drop && peer.edges.sent.empty())
    if (std::byte* const at = peer.out->first()) push_failure(*peer.out, at, *failure_);
  link.in = Stage::done;
  --left_;
  peer.in_queue.next();
}

void DirectExchange::fetch(const StreamPeer& peer, std::span<const Piece> from,
                           const Layout& to) const {
  std::array<Piece, most_pieces> here, there;
  std::size_t count = 0, next = 0;
  Bytes bytes = 0, done = 0;  // done: of from[next]
  const auto read = [&] {
    std::size_t pieces = 0;
    for (Bytes left = bytes; left > 0 && next < from.size(); ++pieces) {
      const Bytes some = std::min(left, from[next].bytes - done);
      there[pieces] = {from[next].address + done, some};
      left -= some, done += some;
      if (done == from[next].bytes) ++next, done = 0;
    }
    const int error = read_process(streams_->node().process(peer.index),
                                   std::span(here).first(count), std::span(there).first(pieces));
    if (error == 0) return;
    streams_->check(peer);
    fail(Errc::memory, "the memory of rank ", peer.edges.rank, " can no longer be read (",
         std::strerror(error), "); set TONARI_CHANNEL=p2p-packed");
  };
  for_pieces(to, recvbuf_, [&](const Piece& piece) {
    here[count++] = piece;
    bytes += piece.bytes;
    if (count == here.size()) read(), count = 0, bytes = 0;
  });
  if (count > 0) read();
}

}  // namespace tonari
