// SPDX-License-Identifier: BSD-3-Clause
// What the messages of a direct exchange are without the addresses of the buffers: compiled once
// from a call's arguments, used for any buffers.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "channels/arguments.hpp"
#include "channels/streams/link.hpp"
#include "copy/moves.hpp"
#include "engine/comm/local_topology.hpp"

namespace tonari {

// The edges of a rank that lead to it, as pairs of send and receive block.
using SelfEdges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

SelfEdges self_edges_of(const Vertex& vertex);

struct DirectMessages {
  struct Message {  // both that are exchanged with one neighbor
    MessageHead head;
    Layout send;               // relative to the space that it lies in
    std::vector<Layout> recv;  // the same; an allgather's message comes to several places
    SpaceId send_from = send_space, receive_to = recv_space;
    std::vector<Bytes> sizes_out, sizes_in;
    std::size_t pieces = 0;  // of the send layout
    bool whole = false;      // what comes goes to one piece of memory
    bool scattered = false;  // it goes to more than most_pieces
  };
  // Throws the mismatch between two ranks whose heads have these words; the sentence is the same on
  // both.
  using Differ = void (*)(std::uint32_t one, std::uint32_t other);
  [[noreturn]] static void differ_in_collective(std::uint32_t one, std::uint32_t other);

  // Completes a message that has its layouts and sizes. detail: says in the head what is called.
  void seal(Message& message, std::uint32_t detail);

  Differ differ = differ_in_collective;
  std::vector<Message> messages;  // by the streams' numbers of neighbors
  std::vector<Move> self;         // between these buffers
  const void *self_from = nullptr, *self_to = nullptr;
  Bytes bytes = 0;    // sent
  Bytes longest = 0;  // of the messages that LongMessages decides on
};

// Compiles the messages of an operation of a neighborhood. Throws Errc::mismatch if a block to this
// rank itself has two sizes, and Errc::overflow.
DirectMessages direct_messages(const Streams& streams, const LocalTopology& topology,
                               const SelfEdges& self, const Arguments& arguments);

struct Misfit {
  Error error;
  bool drop = false;  // what comes is of no use
};
// Says what is wrong with a message of the peer that has this head, or with what goes to the peer;
// nothing if both ranks mean the same. The sentence is the same at both.
std::optional<Misfit> misfit(const DirectMessages& all, const DirectMessages::Message& message,
                             const StreamPeer& peer, std::int32_t rank, const MessageHead& head);

}  // namespace tonari
