// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/direct_messages.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "memory/process.hpp"
#include "one_shot/long_messages.hpp"

namespace tonari {
namespace {

// Sizes are summed up with a factor for each place. If one size differs, the sums tell which.
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

std::size_t pieces_of(const Layout& layout) {
  std::size_t pieces = 0;
  for (const Run& run : layout.runs()) pieces += run.count;
  return pieces;
}

}  // namespace

SelfEdges self_edges_of(const Vertex& vertex) {
  SelfEdges edges;
  for (std::uint32_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] == vertex.rank) edges.emplace_back(vertex.origins[j], j);
  return edges;
}

DirectMessages direct_messages(const Streams& streams, const LocalTopology& topology,
                               const SelfEdges& self, const Arguments& arguments) {
  DirectMessages all;
  const bool gathers = arguments.collective == Collective::allgather;
  const Binding& binding = arguments.binding;
  const auto sent = [&](std::uint32_t i) -> const Block& { return binding.send[gathers ? 0 : i]; };
  all.messages.resize(streams.size());
  for (std::size_t k = 0; k < streams.size(); ++k) {
    DirectMessages::Message& message = all.messages[k];
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
    all.seal(message, static_cast<std::uint32_t>(arguments.collective));
  }
  all.self_from = arguments.sendbuf, all.self_to = arguments.recvbuf;
  Layout out, in;  // of all, so that neighboring blocks are one move
  for (const auto& [i, j] : self) {
    const Block &from = sent(i), &to = binding.recv[j];
    if (from.bytes != to.bytes)
      fail_on_block(static_cast<std::uint32_t>(given_number(topology, Buffer::recv, j)),
                    topology.vertex.rank, topology.vertex.rank, from.bytes, to.bytes);
    add(out, from, arguments.sendbuf), add(in, to, arguments.recvbuf);
  }
  make_moves(all.self, static_cast<std::byte*>(arguments.recvbuf), in,
             static_cast<const std::byte*>(arguments.sendbuf), out);
  return all;
}

void DirectMessages::differ_in_collective(std::uint32_t, std::uint32_t) {
  fail(Errc::mismatch, "some ranks call an all-to-all where others call an allgather");
}

void DirectMessages::seal(Message& message, std::uint32_t detail) {
  message.head = {MessageHead::packed,    detail,
                  sum(message.sizes_out), print(message.sizes_out),
                  sum(message.sizes_in),  print(message.sizes_in)};
  message.pieces = pieces_of(message.send);
  message.whole = message.recv.size() == 1 && pieces_of(message.recv[0]) == 1;
  message.scattered = std::ranges::any_of(
      message.recv, [](const Layout& to) { return pieces_of(to) > most_pieces; });
  const Bytes all = message.send.bytes();
  bytes += all;
  if (all < LongMessages::most && message.pieces <= most_pieces) longest = std::max(longest, all);
}

std::optional<Misfit> misfit(const DirectMessages& all, const DirectMessages::Message& message,
                             const StreamPeer& peer, std::int32_t rank, const MessageHead& head) {
  const MessageHead& mine = message.head;
  const std::int32_t other = peer.edges.rank;
  const Difference in{message.sizes_in,
                      peer.edges.received_numbers,
                      mine.expected,
                      head.sent,
                      mine.expected_print,
                      head.sent_print,
                      other,
                      rank,
                      true};
  const Difference out{message.sizes_out,
                       peer.sent_numbers,
                       mine.sent,
                       head.expected,
                       mine.sent_print,
                       head.expected_print,
                       rank,
                       other,
                       false};
  const bool same_call = head.detail == mine.detail;
  if (same_call && !in && !out) return std::nullopt;
  const auto error = error_of([&] {
    if (!same_call) all.differ(mine.detail, head.detail);
    // Both ends explain the same one.
    if (in && (!out || other < rank)) in.explain();
    out.explain();
  });
  return Misfit{*error, !same_call || in};
}

}  // namespace tonari
