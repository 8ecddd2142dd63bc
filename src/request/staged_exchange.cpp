// SPDX-License-Identifier: BSD-3-Clause
#include "request/staged_exchange.hpp"

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
  if (send) send->check_reach(shifts[send_space], "`sendbuf`");
  if (recv) recv->check_reach(shifts[recv_space], "`recvbuf`");
}

// Messages of an exchange that failed may still arrive.
StagedExchange::~StagedExchange() {
  if (under_way_) leak(std::move(sides_));
}

void StagedExchange::start() {
  if (sides_.send) {
    sides_.send->put_on(sides_.send->own_stream());
    sides_.send->wait();
  }
  step_ = Step::exchanging;
  under_way_ = true;
  inner().start();
}

// Pinned blocks are in no space, so they stay.
void StagedExchange::rebind(Shifts shifts) {
  if (sides_.send) sides_.send->move_to(shifts[send_space]);
  if (sides_.recv) sides_.recv->move_to(shifts[recv_space]);
  inner().rebind(shifts);
}

void StagedExchange::begin_unpacking() {
  under_way_ = false;
  step_ = Step::unpacking;
  if (sides_.recv) sides_.recv->put_on(sides_.recv->own_stream());
}

bool StagedExchange::test() {
  if (step_ == Step::exchanging) {
    if (!inner().test()) return false;
    begin_unpacking();
  }
  return !sides_.recv || sides_.recv->complete();
}

void StagedExchange::wait() {
  if (step_ == Step::exchanging) {
    inner().wait();
    begin_unpacking();
  }
  if (sides_.recv) sides_.recv->wait();
}

Pause StagedExchange::pause() const {
  return step_ == Step::exchanging ? inner().pause() : Pause::yield;
}

void StagedExchange::awaits(Awaited& awaited) const {
  if (step_ == Step::exchanging) return inner().awaits(awaited);
  awaited.in(call_);
  awaited.note("for its device to unpack what has come");
}

}  // namespace tonari
