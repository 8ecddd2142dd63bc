// An exchange of which ranks agree on nothing beforehand: each sends its blocks straight to their
// receivers, all of one pair of ranks in one message of a stream, and finds out from the heads of
// the messages whether the others' sizes and operations go with its own (ADR 20).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "channels/arguments.hpp"
#include "channels/streams/streams.hpp"
#include "copy/walk.hpp"
#include "engine/local_topology.hpp"
#include "engine/polled_exchange.hpp"

namespace tonari {

// The edges of a rank that lead to it, as pairs of send and receive block.
using SelfEdges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// The edges of a rank by neighbor, the next higher rank first, so that not all send to the same one
// first.
std::vector<NeighborEdges> neighbors_of(const LocalTopology& topology, int ranks);
SelfEdges self_edges_of(const Vertex& vertex);

// What the arguments of a call are without the addresses of its buffers: compiled once, used for
// any buffers.
struct DirectShape {
  struct Message {  // both that are exchanged with one neighbor
    MessageHead head;
    Layout send;               // relative to the send buffer
    std::vector<Layout> recv;  // relative to the receive buffer; an allgather's comes to several
    std::vector<Bytes> sizes_out, sizes_in;
    std::size_t pieces = 0;  // of the send layout
  };
  Collective collective = Collective::alltoall;
  std::vector<Message> messages;  // by the streams' numbers of neighbors
  std::vector<Move> self;         // between these buffers
  const void *self_from = nullptr, *self_to = nullptr;
  Bytes bytes = 0;  // sent
};

// Throws Errc::mismatch if a block to this rank itself has two sizes, and Errc::overflow.
DirectShape direct_shape(Streams& streams, const LocalTopology& topology, const SelfEdges& self,
                         const Arguments& arguments, const Binding& binding);

class DirectExchange final : public PolledExchange<DirectExchange> {
 public:
  DirectExchange(std::shared_ptr<Streams> streams, WaitPolicy wait);
  ~DirectExchange() override;
  DirectExchange(const DirectExchange&) = delete;
  DirectExchange& operator=(const DirectExchange&) = delete;

  // Before start. shape: lives until the exchange is complete; it does if it is given to be held.
  void bind(const DirectShape& shape, const void* sendbuf, const void* recvbuf);
  void hold(std::shared_ptr<const DirectShape> shape) { held_ = std::move(shape); }
  // Or instead: this rank cannot exchange. The neighbors hear why, and what they send is dropped;
  // the exchange then fails with this error.
  void refuse(const Error& why);

  bool complete() const { return finished(); }

  void start() override;
  int messages() const override { return messages_; }
  Bytes bytes() const override { return shape_ ? shape_->bytes : 0; }
  std::size_t scratch_bytes() const override { return streams_->bytes(); }
  void give_up() override;

 private:
  friend PolledExchange;
  enum class Stage : std::uint8_t { head, parts, taken, done };
  struct Link {
    std::uint64_t out_ticket = 0, in_ticket = 0;
    Stage out = Stage::done, in = Stage::done;
    bool drop = false;  // what comes is of no use
    Bytes sent = 0, received = 0, incoming = 0;
    Walk from;
    std::vector<Walk> to;  // one for each copy
  };

  bool finished() const { return left_ == 0; }
  bool advance();
  void check_peers() const;
  bool step_all();
  void conclude();
  void copy_self() const;

  bool step_out(std::size_t k);
  bool begin_out(StreamPeer& peer, Link& link, const DirectShape::Message* message);
  bool send_parts(StreamPeer& peer, Link& link, const DirectShape::Message& message);
  void end_out(StreamPeer& peer, Link& link);
  void push_failure(OutStream& out, std::byte* at, const Error& error) const;

  bool step_in(std::size_t k);
  bool begin_in(StreamPeer& peer, Link& link, const DirectShape::Message* message);
  void judge(StreamPeer& peer, Link& link, const DirectShape::Message& message,
             const MessageHead& head);
  bool receive_parts(StreamPeer& peer, Link& link, const DirectShape::Message* message);
  void end_in(StreamPeer& peer, Link& link);
  void fetch(const StreamPeer& peer, std::span<const Piece> from, const Layout& to) const;
  void look_for_notice(StreamPeer& peer);
  void failed(std::int32_t rank, const Error& error);

  std::shared_ptr<Streams> streams_;
  std::unique_ptr<Link[]> links_;
  const DirectShape* shape_ = nullptr;
  std::shared_ptr<const DirectShape> held_;
  std::byte *sendbuf_ = nullptr, *recvbuf_ = nullptr;
  std::size_t left_ = 0;  // ends of messages
  int messages_ = 0;
  bool refused_ = false;
  std::optional<Error> failure_;  // of the lowest rank that has one; this rank's own before all
  std::int32_t failed_rank_ = 0;
};

}  // namespace tonari
