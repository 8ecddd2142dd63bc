// SPDX-License-Identifier: BSD-3-Clause
// An exchange of which ranks agree on nothing beforehand: each sends its blocks straight to their
// receivers, all of one pair of ranks in one message of a stream, and finds out from the heads of
// the messages whether the others' sizes and operations go with its own (ADR 20).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "copy/walk.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/in_flight.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "one_shot/direct_messages.hpp"
#include "one_shot/long_messages.hpp"

namespace tonari {

class DirectExchange final : public PolledExchange<DirectExchange> {
 public:
  // Whether a rank that drops what comes tells a sender to whom it sends nothing itself. That one
  // then fails too, when the notice has come: it may be a later exchange.
  enum class Notices : bool { none, sent };
  DirectExchange(std::shared_ptr<Streams> streams, WaitPolicy wait,
                 Notices notices = Notices::sent);
  ~DirectExchange() override;
  DirectExchange(const DirectExchange&) = delete;
  DirectExchange& operator=(const DirectExchange&) = delete;

  // Before start. messages: lives until the exchange is complete; it does if it is given to be held.
  void bind(const DirectMessages& messages, const Spaces& spaces);
  void hold(std::shared_ptr<const DirectMessages> messages) { held_ = std::move(messages); }
  // Or instead: this rank cannot exchange. The neighbors hear why, and what they send is dropped;
  // the exchange then fails with this error.
  void refuse(const Error& why);

  bool complete() const { return finished(); }
  // Messages and bytes that this rank sends.
  std::pair<std::uint64_t, Bytes> traffic() const {
    return {static_cast<std::uint64_t>(messages()), bytes()};
  }

  void start() override;
  bool test() override;
  void wait() override;
  int messages() const override { return messages_; }
  Bytes bytes() const override { return bound_ ? bound_->bytes : 0; }
  std::size_t scratch_bytes() const override { return streams_->bytes(); }
  void give_up() override;
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange;
  enum class Stage : std::uint8_t { head, parts, taken, done };
  struct Link {
    std::uint64_t out_ticket = 0, in_ticket = 0;
    Stage out = Stage::done, in = Stage::done;
    bool drop = false;   // what comes is of no use
    bool asked = false;  // whether it comes without a head
    Bytes sent = 0, received = 0, incoming = 0;
    MessageHead head;  // of what comes
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
  bool begin_out(StreamPeer& peer, Link& link, const DirectMessages::Message* message);
  void push_bare(OutStream& out, const DirectMessages::Message& message) const;
  bool send_parts(StreamPeer& peer, Link& link, const DirectMessages::Message& message);
  void end_out(StreamPeer& peer, Link& link);
  void push_failure(OutStream& out, std::byte* at, const Error& error) const;

  bool step_in(std::size_t k);
  void expect(StreamPeer& peer, Link& link, const DirectMessages::Message* message);
  bool begin_in(StreamPeer& peer, Link& link, const DirectMessages::Message* message);
  void take_first(StreamPeer& peer, Link& link, const DirectMessages::Message* message,
                  const std::byte* at, std::size_t bytes);
  void judge(StreamPeer& peer, Link& link, const DirectMessages::Message& message,
             const MessageHead& head);
  std::byte* base(SpaceId space) const { return spaces_[space]; }
  bool receive_parts(StreamPeer& peer, Link& link, const DirectMessages::Message* message);
  void end_in(StreamPeer& peer, Link& link);
  struct Position;
  void fetch(const StreamPeer& peer, std::span<const Piece> from, std::byte* base, const Layout& to,
             bool scattered);
  void fetch_and_scatter(const StreamPeer& peer, Position& from, std::byte* base, const Layout& to);
  void read(const StreamPeer& peer, Position& from, std::span<const Piece> here, Bytes bytes) const;
  void start_all();
  template <class Part>
  void timed(const Part& part);
  void look_for_notice(StreamPeer& peer);
  void failed(std::int32_t rank, const Error& error);

  std::shared_ptr<Streams> streams_;
  Notices notices_;
  std::unique_ptr<Link[]> links_;
  const DirectMessages* bound_ = nullptr;
  std::shared_ptr<const DirectMessages> held_;
  Spaces spaces_{};
  std::size_t left_ = 0;  // ends of messages
  LongMessages long_messages_;
  Bytes read_from_ = 0;  // messages of so many bytes are read where they lie
  LongMessages::Clock::duration spent_{};
  std::vector<std::byte> staged_;  // what was read and is not one piece here
  std::uint32_t steps_ = 0;
  int messages_ = 0;
  bool refused_ = false;
  std::optional<Error> failure_;  // of the lowest rank that has one; this rank's own before all
  std::int32_t failed_rank_ = 0;
};

// Connects the streams of a context's neighborhood. Collective, together on its communicator; the
// caller takes stream_tags tags of it once all ranks have them.
std::shared_ptr<Streams> connect_streams(Context& context);

// Throws what keeps this process from exchanging by streams. owner: "neighborhood", whose they are.
void check_usable(const Streams& streams, const char* owner);

// Starts and completes an exchange by streams; these end if it fails in the middle.
template <class ByStreams>
void run_to_end(ByStreams& exchange)
  requires requires { exchange.traffic(); }
{
  try {
    exchange.start();
    if (!exchange.complete()) wait_and_drive(exchange);
  } catch (...) {
    exchange.give_up();
    throw;
  }
}

}  // namespace tonari
