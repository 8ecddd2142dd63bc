// SPDX-License-Identifier: BSD-3-Clause
// An exchange of which ranks agree on nothing beforehand: each sends its blocks straight to their
// receivers, all of one pair of ranks in one message of a stream, and finds out from the heads of
// the messages whether the others' sizes and operations go with its own (ADR 20).
#pragma once

#include <memory>
#include <vector>

#include "copy/walk.hpp"
#include "one_shot/direct_messages.hpp"
#include "one_shot/long_messages.hpp"
#include "one_shot/message_reader.hpp"
#include "one_shot/streamed_exchange.hpp"

namespace tonari {

class DirectExchange final : public StreamedExchange<DirectExchange, DirectMessages> {
 public:
  // Whether a rank that drops what comes tells a sender to whom it sends nothing itself. That one
  // then fails too, when the notice has come: it may be a later exchange.
  enum class Notices : bool { none, sent };
  DirectExchange(std::shared_ptr<Streams> streams, WaitPolicy wait,
                 Notices notices = Notices::sent);

  // Before start. messages: they live until the exchange is complete, at best as hold() keeps them.
  void bind(const DirectMessages& messages, const Spaces& spaces) { bind_to(messages, spaces); }
  // Or instead: this rank cannot exchange. The neighbors hear why, and what they send is dropped;
  // the exchange then fails with this error.
  void refuse(const Error& why) { refuse_all(why); }

  // The next exchange fails with what ranks told on earlier streams to those who send to them, if
  // no exchange has seen it.
  void hear_notices(Streams& earlier);

  void start() override;
  bool test() override;
  void wait() override;
  int messages() const override { return messages_; }
  std::size_t scratch_bytes() const override { return streams_->bytes(); }
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange;
  friend StreamedExchange;
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

  bool advance();
  void check_peers() const;
  bool step_all();
  void copy_self() const;

  bool step_out(std::size_t k);
  bool begin_out(StreamPeer& peer, Link& link, const DirectMessages::Message* message);
  void push_bare(OutStream& out, const DirectMessages::Message& message) const;
  bool send_parts(StreamPeer& peer, Link& link, const DirectMessages::Message& message);
  void end_out(StreamPeer& peer, Link& link);
  void push_failure(OutStream& out, std::byte* at) const;

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
  void start_all();
  template <class Part>
  void timed(const Part& part);
  void look_for_notice(StreamPeer& peer);

  Notices notices_;
  std::unique_ptr<Link[]> links_;
  LongMessages long_messages_;
  Bytes read_from_ = 0;  // messages of so many bytes are read where they lie
  LongMessages::Clock::duration spent_{};
  MessageReader reader_;
  std::uint32_t steps_ = 0;
  int messages_ = 0;
};

}  // namespace tonari
