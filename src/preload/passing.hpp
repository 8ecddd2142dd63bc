// SPDX-License-Identifier: BSD-3-Clause
// Calls that come back. A profiling tool behind this library, to whose MPI_X a call of the program
// is passed on, calls PMPI_X, which is ours again: that call is no other one.
#pragma once

namespace tonari::preload {

// Marks that this thread is in one of our functions, for as long as that runs. `what` names a set
// of functions. A call of one of them inside of another counts as the same call, passed on by a
// tool. frame: the function's own. Who leaves it by longjmp, as error handlers may, leaves the
// mark: it says nothing to frames further up. A thread is taken to have one stack, which grows
// downwards: a call from another stack of the thread, such as a coroutine's, may count as passed
// on.
class Inside {
 public:
  Inside(const void* what, const void* frame)
      : outer_(now_), comes_back_(now_.what == what && frame < now_.frame) {
    now_ = {what, frame};
  }
  ~Inside() { now_ = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool comes_back() const { return comes_back_; }

 private:
  struct Mark {
    const void *what, *frame;
  };
  __attribute__((tls_model("initial-exec"))) static thread_local constinit Mark now_;
  Mark outer_;
  bool comes_back_;
};

}  // namespace tonari::preload
