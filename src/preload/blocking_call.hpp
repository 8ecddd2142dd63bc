// SPDX-License-Identifier: BSD-3-Clause
// One call of the program that blocks: it goes through tonari or to the MPI, and is timed where
// both are tried.
#pragma once

#include "preload/call.hpp"
#include "preload/progress.hpp"
#include "preload/raise.hpp"
#include "preload/sites.hpp"

namespace tonari::preload {

// Arguments: their kind, and what the call becomes (operations.hpp). all_know: ranks that get an
// error from tonari all get it, and nothing was moved.
template <class Arguments, class Function>
class BlockingCall {
 public:
  BlockingCall(const Called<Function>& called, Handle comm, const Arguments& arguments)
      : called_(called), comm_(comm), arguments_(arguments) {}

  int run() {
    if (steps_aside(called_.site, comm_)) return native();
    const double begin = recording() ? now() : 0.0;
    Communicator& state = state_for(Arguments::kind, comm());
    Choice& choice = state.choice(Arguments::kind);
    if (choice.ready()) compare(comm(), state, choice);
    if (choice.tries() || recording()) [[unlikely]]
      return timed(state, choice, begin);
    return choice.next() == Way::tonari ? ours(state) : native();
  }

 private:
  MPI_Comm comm() const { return handle_as<MPI_Comm>(comm_); }
  int native() const { return arguments_.native(called_.real, comm_); }

  int timed(Communicator& state, Choice& choice, double called) {
    const bool tries = choice.tries(), first = !state.called;
    const Way way = choice.next();
    const double begin = now();
    const int rc = way == Way::tonari ? ours(state) : native();
    const double end = now();
    if (choice.tries()) choice.took(way, end - begin);
    state.called = true;
    if (recording())
      record_call({called_.name, called_.site, static_cast<int>(refused_ ? Way::native : way),
                   first, arguments_.bytes(state), end - (first ? called : begin),
                   refused_ ? "tonari refused it"
                   : tries  ? "trial"
                            : state.why_of(Arguments::kind)});
    return rc;
  }

  int ours(Communicator& state) {
    const int code = [&] {
      const InTonari now;
      return arguments_.exchange(state);
    }();
    if (code != TONARI_SUCCESS) [[unlikely]]
      return failed(state, code);
    state.connected |= Arguments::kind != Kind::in_place;
    return MPI_SUCCESS;
  }

  // All ranks know of an error of the first exchange, since it is collective. Where they know of
  // any, the MPI says what is wrong.
  int failed(Communicator& state, int code) {
    if (Arguments::all_know) return refused();
    if (state.connected) return raise(comm(), code);
    give_up(state, "its first exchange failed");
    return refused();
  }

  int refused() {
    refused_ = true;
    return native();
  }

  Called<Function> called_;
  Handle comm_;
  const Arguments& arguments_;
  bool refused_ = false;  // by tonari: the MPI has done it
};

template <class Arguments, class Function>
int call_blocking(const Called<Function>& called, Handle comm, const Arguments& arguments) {
  return BlockingCall<Arguments, Function>(called, comm, arguments).run();
}

}  // namespace tonari::preload
