// SPDX-License-Identifier: BSD-3-Clause
// One call of the program that blocks: tonari or the MPI does it, and it is timed where both are
// tried.
#pragma once

#include "preload/agreement.hpp"
#include "preload/ahead.hpp"
#include "preload/call.hpp"
#include "preload/progress.hpp"
#include "preload/raise.hpp"
#include "preload/sites.hpp"
#include "preload/vote.hpp"

namespace tonari::preload {

// Arguments: their kind, and what the call becomes (operations.hpp). all_know: where one rank gets
// an error from tonari, all get one, and nothing was moved.
template <class Arguments, class Function>
class BlockingCall {
 public:
  BlockingCall(const Called<Function>& called, Handle comm, const Arguments& arguments)
      : called_(called), comm_(comm), arguments_(arguments) {}

  int run() {
    if (steps_aside(called_.site, comm_)) return native();
    const double begin = recording() ? now() : 0.0;
    if (may_be_the_only_call(Arguments::kind, comm())) [[unlikely]]
      return alone(begin);
    Communicator& state = state_for(Arguments::kind, comm());
    Dispatch& dispatch = state.dispatch(Arguments::kind);
    if (dispatch.ready()) compare(comm(), state, dispatch);
    if (dispatch.tries() || recording()) [[unlikely]]
      return timed(state, dispatch, begin);
    return dispatch.next() == Backend::tonari ? ours(state) : native();
  }

 private:
  MPI_Comm comm() const { return handle_as<MPI_Comm>(comm_); }
  int native() const { return arguments_.native(called_.real, comm_); }

  // The communicator's first call; its neighbors are not known yet.
  int alone(double begin) {
    const int rc = native();
    if (!recording()) return rc;
    Communicator known;
    known.targets = targets_of(comm());
    record_call({called_.name, called_.site, Backend::native, false, arguments_.bytes(known),
                 now() - begin, "came once"});
    return rc;
  }

  int timed(Communicator& state, Dispatch& dispatch, double called) {
    const bool tries = dispatch.tries(), first = !state.called;
    const Backend backend = dispatch.next();
    const double begin = now();
    const int rc = backend == Backend::tonari ? ours(state) : native();
    const double end = now();
    if (dispatch.tries()) dispatch.took(backend, end - begin);
    state.called = true;
    if (recording())
      record_call({called_.name, called_.site, refused_ ? Backend::native : backend, first,
                   arguments_.bytes(state), end - (first ? called : begin),
                   refused_ ? "tonari refused it"
                   : tries  ? "trial"
                            : state.why_of(Arguments::kind)});
    return rc;
  }

  int exchange(const Communicator& state) const {
    const InTonari now;
    return arguments_.exchange(state);
  }

  int ours(Communicator& state) {
    if (!Arguments::all_know && !state.proven) [[unlikely]]
      return first(state);
    const int code = exchange(state);
    if (code == TONARI_SUCCESS) [[likely]]
      return MPI_SUCCESS;
    if (code == TONARI_ERR_PEER) return raised(state, code);  // nothing may wait for the dead
    // Where only some ranks know, the others are gone, or wait for this one in their next call.
    return Arguments::all_know && all_go_to_mpi(state, code) ? refused() : raised(state, code);
  }

  // All ranks are here, so each hears whether it went well on all.
  int first(Communicator& state) {
    const int connected = connect(state);
    if (connected == TONARI_ERR_PEER) return raised(state, connected);
    if (connected != TONARI_SUCCESS) return gives_up(state);
    const int code = exchange(state);
    // Ranks that have all their blocks compare, and wait inside of the MPI for who is gone, as in
    // any collective call of the program: that is the launcher's business (decision 47).
    if (code == TONARI_ERR_PEER) return raised(state, code);
    if (all_go_to_mpi(state, code)) return gives_up(state);
    state.proven = true;
    return code == TONARI_SUCCESS ? MPI_SUCCESS : raised(state, code);
  }

  // The MPI may accept what tonari did not, but not what is wrong for every MPI: there a rank would
  // get an error, while others wait for it in vain.
  Fault fault(const Communicator& state, int code) const {
    if (code == TONARI_SUCCESS) return Fault::none;
    const bool sizes_differ = code == TONARI_ERR_MISMATCH && !Arguments::all_know;
    return sizes_differ || arguments_.wrong(state) != MPI_SUCCESS ? Fault::of_program
                                                                  : Fault::of_tonari;
  }
  // Collective.
  bool all_go_to_mpi(const Communicator& state, int code) const {
    return worst_of_all(comm(), fault(state, code)) == Fault::of_tonari;
  }

  int raised(const Communicator& state, int code) const {
    return raise(comm(), code, arguments_.wrong(state));
  }

  int gives_up(Communicator& state) {
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
