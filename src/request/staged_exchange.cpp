// SPDX-License-Identifier: BSD-3-Clause
#include "request/staged_exchange.hpp"

#include <utility>

#include "channels/abandon.hpp"
#include "channels/arguments.hpp"
#include "engine/wait/awaited.hpp"

namespace tonari {

Bytes StagedSides::bytes() const { return (send ? send->bytes() : 0) + (recv ? recv->bytes() : 0); }

std::string StagedSides::describe() const {
  const auto side = [](const char* name, const std::shared_ptr<PinnedCopy>& copy) {
    return copy ? text(name, copy->number()) : std::string();
  };
  return text(side("send blocks on device ", send), send && recv ? " and " : "",
              side("receive blocks on device ", recv), " are staged through ", bytes(),
              " bytes of pinned host memory, because no channel takes memory of a device\n");
}

void StagedSides::check_reach(Shifts shifts) const {
  if (send) send->check_reach(shifts, "`sendbuf`");
  if (recv) recv->check_reach(shifts, "`recvbuf`");
}

// Messages of an exchange that failed may still arrive.
StagedExchange::~StagedExchange() {
  if (under_way_) leak(std::move(sides_));
}

void StagedExchange::pack_on(DeviceStream stream) {
  (sides_.send ? sides_.send : sides_.recv)->check_stream(stream);
  packs_on_ = stream;
}

void StagedExchange::unpack_on(DeviceStream stream) {
  if (!sides_.recv) return;
  sides_.recv->check_stream(stream);
  unpacks_on_ = stream;
  by_stream_ = true;
}

// Another wait may have unpacked before it was said where.
void StagedExchange::finish_on(DeviceStream stream) {
  if (sides_.recv) sides_.recv->order_behind(stream);
}

bool StagedExchange::packed() {
  return (!sides_.send || sides_.send->complete()) && (!sides_.recv || sides_.recv->complete());
}

void StagedExchange::begin_exchange() {
  step_ = Step::exchanging;
  under_way_ = true;
  inner().start();
}

// With other buffers, MPI's own collective is one call for each start (NativeExchange::rebind). All
// ranks must make such calls in one order, which is that of the program's starts.
void StagedExchange::start() {
  const std::optional<DeviceStream> stream = std::exchange(packs_on_, std::nullopt);
  by_stream_ = false;
  step_ = Step::packing;
  if (sides_.send)
    sides_.send->put_on(stream ? *stream : sides_.send->own_stream());
  else if (stream)
    sides_.recv->mark_on(*stream);
  if (stream && !rebound_) return;
  if (sides_.send) sides_.send->wait();
  if (sides_.recv) sides_.recv->wait();
  begin_exchange();
}

// Pinned blocks are in no space, so they stay.
void StagedExchange::rebind(Shifts shifts) {
  rebound_ = true;
  if (sides_.recv) sides_.recv->wait();
  if (sides_.send) sides_.send->move_to(shifts);
  if (sides_.recv) sides_.recv->move_to(shifts);
  inner().rebind(shifts);
}

void StagedExchange::begin_unpacking() {
  under_way_ = false;
  step_ = Step::unpacking;
  if (!sides_.recv) return;
  const bool by_stream = by_stream_;
  sides_.recv->put_on(by_stream ? unpacks_on_ : sides_.recv->own_stream());
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
  return !sides_.recv || by_stream_ || sides_.recv->complete();
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
  if (sides_.recv && !by_stream_) sides_.recv->wait();
}

Pause StagedExchange::pause() const {
  return step_ == Step::exchanging ? inner().pause() : Pause::yield;
}

void StagedExchange::awaits(Awaited& awaited) const {
  if (step_ == Step::exchanging) return inner().awaits(awaited);
  awaited.in(call_);
  awaited.note(step_ == Step::packing ? "for its device to pack what is sent"
                                      : "for its device to unpack what has come");
}

}  // namespace tonari
