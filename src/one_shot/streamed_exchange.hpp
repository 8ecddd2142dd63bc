// SPDX-License-Identifier: BSD-3-Clause
// What exchanges by streams have in common. All of their messages travel even where a rank cannot
// do its part; the exchange fails when they are through.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "channels/arguments.hpp"
#include "channels/streams/link.hpp"
#include "engine/wait/in_flight.hpp"
#include "engine/wait/named_rank.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "memory/process.hpp"
#include "one_shot/failure.hpp"

namespace tonari {

// Where the spaces of an exchange lie, by their numbers.
using Spaces = std::array<std::byte*, 3>;

// `Made` is the exchange, as for PolledExchange. Messages: what it is bound to, for any buffers.
template <class Made, class Messages>
class StreamedExchange : public PolledExchange<Made> {
 public:
  ~StreamedExchange() override {
    if (left_ > 0 && !in_forked_child()) streams_->leave();
  }

  // It keeps what it is bound to until then.
  void hold(std::shared_ptr<const Messages> messages) { held_ = std::move(messages); }
  bool complete() const { return left_ == 0; }
  // Messages and bytes that this rank sends.
  std::pair<std::uint64_t, Bytes> traffic() const {
    return {static_cast<std::uint64_t>(this->messages()), bytes()};
  }

  bool test() override {
    if (streams_->any_shared()) return PolledExchange<Made>::test();
    if (left_ > 0) this->test_by(look());
    return left_ == 0;
  }
  void wait() override {
    if (streams_->any_shared()) return PolledExchange<Made>::wait();
    this->wait_by(look());
  }
  Bytes bytes() const override { return bound_ ? bound_->bytes : 0; }
  void give_up() override {
    if (left_ > 0) streams_->leave();
  }

 protected:
  StreamedExchange(std::shared_ptr<Streams> streams, WaitPolicy wait)
      : PolledExchange<Made>(streams->comm(), wait), streams_(std::move(streams)) {}

  void bind_to(const Messages& messages, const Spaces& spaces) {
    bound_ = &messages;
    spaces_ = spaces;
    failure_.accept();
  }
  void refuse_all(const Error& why) {
    bound_ = nullptr;
    // The error is as the others read it, if there are any.
    failure_.refuse(streams_->size() > 0 ? with_rank(streams_->rank(), why) : why);
  }
  bool finished() const { return left_ == 0; }

  std::shared_ptr<Streams> streams_;
  const Messages* bound_ = nullptr;  // null: this rank refuses
  Spaces spaces_{};
  std::size_t left_ = 0;  // of what is to be done
  StreamFailure failure_;

 private:
  // Where all messages go by MPI, looks let it proceed.
  auto look() {
    return [this] { return static_cast<Made&>(*this).advance(); };
  }

  std::shared_ptr<const Messages> held_;
};

// Starts and completes an exchange; its streams end if it fails in the middle.
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
