// SPDX-License-Identifier: BSD-3-Clause
#include "request/staged_exchange.hpp"

#include <utility>

#include "channels/abandon.hpp"
#include "channels/arguments.hpp"
#include "engine/wait/awaited.hpp"

namespace tonari {

Bytes StagedSides::bytes() const { return (send ? send->bytes() : 0) + (recv ? recv->bytes() : 0); }

std::string StagedSides::describe(const std::string& why) const {
  const auto side = [](const char* name, const std::shared_ptr<PinnedCopy>& copy) {
    return copy ? text(name, copy->number()) : std::string();
  };
  return text(side("send blocks on device ", send), send && recv ? " and " : "",
              side("receive blocks on device ", recv), " are staged through ", bytes(),
              " bytes of pinned host memory, because ", why, "\n");
}

std::string StagedSides::describe_own() const {
  if (!own) return "";
  return text(own_messages, own_messages == 1 ? " message to itself is" : " messages to itself are",
              " copied on device ", own->number(), " by one launch\n");
}

void StagedSides::check_reach(Shifts shifts) const {
  if (send) send->check_reach(shifts, "`sendbuf`");
  if (recv) recv->check_reach(shifts, "`recvbuf`");
}

// Messages of an exchange that failed may still arrive.
StagedExchange::~StagedExchange() {
  if (under_way_) leak(std::move(sides_));
}

void StagedExchange::copy_own(std::shared_ptr<LaunchedCopies> own, std::size_t messages) {
  sides_.own = std::move(own);
  sides_.own_messages = messages;
}

LaunchedCopies* StagedExchange::any() const {
  if (sides_.recv) return sides_.recv.get();
  return sides_.own ? sides_.own.get() : sides_.send.get();
}

void StagedExchange::check_reach(Shifts shifts) const {
  sides_.check_reach(shifts);
  if (inner_by_stream_) inner_by_stream_->check_reach(shifts);
}

void StagedExchange::pack_on(DeviceStream stream) {
  if (inner_by_stream_) inner_by_stream_->pack_on(stream);
  (sides_.send ? sides_.send.get() : any())->check_stream(stream);
  packs_on_ = stream;
}

void StagedExchange::unpack_on(DeviceStream stream) {
  if (inner_by_stream_) inner_by_stream_->unpack_on(stream);
  if (!sides_.recv && !sides_.own) return;
  any()->check_stream(stream);
  unpacks_on_ = stream;
  by_stream_ = true;
}

// Another wait may have unpacked before it was said where.
void StagedExchange::finish_on(DeviceStream stream) {
  if (inner_by_stream_) inner_by_stream_->finish_on(stream);
  if (sides_.recv) sides_.recv->order_behind(stream);
  if (sides_.own) sides_.own->order_behind(stream);
}

bool StagedExchange::packed() {
  return (!sides_.send || sides_.send->complete()) && (!sides_.recv || sides_.recv->complete());
}

void StagedExchange::begin_exchange() {
  step_ = Step::exchanging;
  under_way_ = true;
  inner().start();
}

// Nothing but this orders the last copies to these ghosts before the next ones.
void StagedExchange::begin_own(DeviceStream stream) {
  sides_.own->order_behind(stream);
  sides_.own->put_on(stream);
}

// With other buffers, MPI's own collective is one call for each start (NativeExchange::rebind). All
// ranks must make such calls in one order, which is that of the program's starts.
void StagedExchange::start() {
  const std::optional<DeviceStream> stream = std::exchange(packs_on_, std::nullopt);
  by_stream_ = false;
  step_ = Step::packing;
  if (sides_.send)
    sides_.send->put_on(stream ? *stream : sides_.send->own_stream());
  else if (stream && sides_.recv)
    sides_.recv->mark_on(*stream);
  if (sides_.own) begin_own(stream ? *stream : sides_.own->own_stream());
  if (inner().nothing()) {
    step_ = Step::unpacking;
    return;
  }
  if (stream && !rebound_ && !inner_by_stream_) return;
  if (sides_.send) sides_.send->wait();
  if (sides_.recv) sides_.recv->wait();
  begin_exchange();
}

void StagedExchange::move_copies(Shifts shifts) {
  if (sides_.recv) sides_.recv->wait();
  if (sides_.own) sides_.own->wait();
  if (sides_.send) sides_.send->move_to(shifts);
  if (sides_.recv) sides_.recv->move_to(shifts);
  if (sides_.own) sides_.own->move_to(shifts);
}

// Pinned blocks are in no space, so they stay.
void StagedExchange::rebind(Shifts shifts) {
  rebound_ = true;
  move_copies(shifts);
  inner().rebind(shifts);
}

void StagedExchange::move_blocks(Shifts shifts) {
  move_copies(shifts);
  if (inner_by_stream_) inner_by_stream_->move_blocks(shifts);
}

void StagedExchange::begin_unpacking() {
  under_way_ = false;
  step_ = Step::unpacking;
  if (!sides_.recv) return;
  const bool by_stream = by_stream_;
  sides_.recv->put_on(by_stream ? unpacks_on_ : sides_.recv->own_stream());
}

bool StagedExchange::unpacked() {
  return (!sides_.recv || sides_.recv->complete()) && (!sides_.own || sides_.own->complete());
}

bool StagedExchange::test() {
  if (step_ == Step::packing) {
    if (!packed()) return false;
    begin_exchange();
  }
  if (step_ == Step::exchanging) {
    if (!inner().test()) return false;
    begin_unpacking();
  }
  return by_stream_ || unpacked();
}

void StagedExchange::wait() {
  if (step_ == Step::packing) {
    if (sides_.send) sides_.send->wait();
    if (sides_.recv) sides_.recv->wait();
    begin_exchange();
  }
  if (step_ == Step::exchanging) {
    inner().wait();
    begin_unpacking();
  }
  if (by_stream_) return;
  if (sides_.recv) sides_.recv->wait();
  if (sides_.own) sides_.own->wait();
}

Pause StagedExchange::pause() const {
  return step_ == Step::exchanging ? inner().pause() : Pause::yield;
}

void StagedExchange::awaits(Awaited& awaited) const {
  if (step_ == Step::exchanging) return inner().awaits(awaited);
  awaited.in(call_);
  awaited.note(step_ == Step::packing ? "for its device to pack what is sent"
                                      : "for its device to copy what has come");
}

}  // namespace tonari
