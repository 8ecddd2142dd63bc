// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that complete by being polled: how they pause between looks, let the MPI proceed, and
// find out that a rank they wait for has died.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "channels/mpi_error.hpp"
#include "channels/owned_comm.hpp"
#include "engine/exchange.hpp"
#include "memory/wait.hpp"

namespace tonari {

// `Made` is the exchange itself, and says what a look is:
//   bool finished() const   nothing is left to do
//   bool advance()          looks at all that is under way; whether anything moved
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
      after_idle_look(idle_tests_.idle(policy_));
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
        after_idle_look(waiting.idle());
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
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_->get(), &flag, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }
  void check_peers() const {}  // throws Errc::peer if one that is waited for has ended or left

  std::shared_ptr<const OwnedComm> comm_;
  WaitPolicy policy_;
  Pause pause_ = Pause::yield;

 private:
  Made& made() { return static_cast<Made&>(*this); }

  void after_idle_look(Wait::Then then) {
    if (then == Wait::Then::progress) made().progress();
    if (then != Wait::Then::check) return;
    const std::optional<Error> error = error_of([&] { made().check_peers(); });
    // A rank that left or ended may have done so right after doing its part.
    if (error && !made().advance()) throw *error;
  }

  IdleTests idle_tests_;
};

}  // namespace tonari
