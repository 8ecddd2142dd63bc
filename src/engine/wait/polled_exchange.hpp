// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that complete by being polled: how they pause between looks, let the MPI proceed, tell
// of long waits, and find out that a rank they wait for has died.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "engine/wait/awaited.hpp"
#include "engine/wait/exchange.hpp"
#include "engine/wait/hang_report.hpp"
#include "memory/wait.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

// `Made` is the exchange itself, and says what a look is:
//   bool finished() const   nothing is left to do
//   bool advance()          looks at all that is under way; whether anything moved
// and, to be told of, what it waits for: Exchange::awaits.
// It may also hide the rest of the protected part. It is a parameter because looks must be direct
// calls: short exchanges consist of them. `Base` is LeafExchange or WrappedExchange.
template <class Made, class Base = LeafExchange>
class PolledExchange : public Base {
 public:
  bool test() override {
    if (made().finished()) return true;
    if (made().advance()) {
      idle_tests_.reset();
      pause_ = Pause::none;
    } else {
      pause_ = Made::idle_pause;
      after_idle_look(idle_tests_.idle(policy_), idle_tests_);
    }
    return made().finished();
  }

  void wait() override {
    idle_tests_.reset();
    Wait waiting(policy_);
    while (!made().finished()) {
      if (made().advance())
        waiting.reset();
      else
        after_idle_look(waiting.idle(), waiting);
    }
  }

  Pause pause() const override { return pause_; }

 protected:
  // `comm` carries the exchange's messages; the MPI proceeds when it is asked about them.
  template <class... BaseArguments>
  PolledExchange(std::shared_ptr<const OwnedComm> comm, WaitPolicy policy,
                 BaseArguments&&... arguments)
      : Base(std::forward<BaseArguments>(arguments)...), comm_(std::move(comm)), policy_(policy) {}

  static constexpr Pause idle_pause = Pause::sleep;  // after a look in which nothing moved
  // Others may need this rank's MPI before they can do what it waits for.
  void progress() {
    int flag = 0;
    call_mpi("MPI_Iprobe", [&] {
      return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_->get(), &flag, MPI_STATUS_IGNORE);
    });
  }
  void check_peers() const {}  // throws Errc::peer if one that is waited for has ended or left
  bool look_again() { return made().advance(); }

  std::shared_ptr<const OwnedComm> comm_;
  WaitPolicy policy_;
  Pause pause_ = Pause::yield;

  // The same by calls that test the MPI's requests, and so let the MPI proceed: look() returns
  // whether anything moved.
  template <class Look>
  void test_by(const Look& look) {
    if (look()) {
      idle_tests_.reset();
      pause_ = Pause::none;
    } else {
      pause_ = Pause::yield;
      after_idle_look(idle_tests_.idle(policy_), idle_tests_);
    }
  }
  template <class Look>
  void wait_by(const Look& look) {
    idle_tests_.reset();
    while (!made().finished()) {
      if (look())
        idle_tests_.reset();
      else
        after_idle_look(idle_tests_.idle(policy_), idle_tests_);
    }
  }

 private:
  Made& made() { return static_cast<Made&>(*this); }

  // waiting: has said so
  template <class Waiting>
  void after_idle_look(Wait::Then then, const Waiting& waiting) {
    if (then == Wait::Then::progress) made().progress();
    if (then >= Wait::Then::tell) [[unlikely]]
      after_long(then, waiting.waited());
  }

  [[gnu::noinline, gnu::cold]] void after_long(Wait::Then then, double seconds) {
    tell(seconds);
    if (then != Wait::Then::check) return;
    const std::optional<Error> error = error_of([&] { made().check_peers(); });
    // A rank that left or ended may have done so right after doing its part.
    if (error && !made().look_again()) throw *error;
  }

  void tell(double seconds) const {
    Awaited awaited;
    awaited.in(this->call_);
    this->awaits(awaited);
    tell_of_wait(awaited, comm_ ? comm_->get() : MPI_COMM_NULL, seconds);
  }

  IdleTests idle_tests_;
};

}  // namespace tonari
