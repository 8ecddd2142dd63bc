// SPDX-License-Identifier: BSD-3-Clause
// Lists the exchanges of this process that were started and are not complete. While a rank waits in
// an agreement or for an exchange, it drives all of them on. Other ranks may need the blocks that
// pass through it before they can come to where it waits. MPI has the same rule of progress for its
// own requests.
//
// With MPI_THREAD_MULTIPLE any thread may use this list, and none keeps another from starting,
// testing or completing its own exchanges. Each exchange in flight has a slot, which one thread at
// a time takes in order to test it:
//   * A thread that drives the others leaves out those whose slot is taken.
//   * A thread that waits for an exchange has its slot for as long as that lasts, so no other
//     thread touches it.
//   * A thread that tests an exchange while another thread tests it learns that it is not complete.
//   * Only a thread that waits for an exchange, or takes it out, waits until another thread's test
//     of it is over.
// An exchange that its own thread finds complete, or failed, leaves its slot at once. Of several
// threads that wait, one drives all; the rest look after their own. A thread that waits while
// nothing else is in flight leaves what other threads start meanwhile to them.
#pragma once

#include <functional>

#include "engine/wait/exchange.hpp"
#include "memory/wait.hpp"

namespace tonari {

// Reserves memory at init, so that start allocates nothing.
void make_room_in_flight();
// Says for good that ranks outnumber cores, so that waiting threads soon give the core away.
void expect_crowd();

// Lists a started exchange unless it proceeds by itself. Allocates nothing up to 1,024 in flight.
void enlist(Exchange& exchange);
// Removes an exchange, if listed, before it is destroyed. Then no other thread touches it.
void discharge(Exchange& exchange);

bool any_in_flight();
// Calls work while no other thread tests the exchange; false: another one does, or waits for it.
bool while_nobody_tests(Exchange& exchange, const std::function<void()>& work);
// Waits like the exchange itself, but drives the others on, too. Afterwards it is no longer listed,
// even if this throws.
void wait_and_drive(Exchange& exchange);

// A thread that waits by looking again and again.
class Waiter {
 public:
  Waiter();
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Tests like the exchange itself. If it returns true or throws, the exchange is no longer listed.
  bool test(Exchange& exchange);
  // Tests once all that are in flight and were not tested just now, unless another waiting thread
  // does so. It throws nothing: what fails says so at its own test or wait.
  void drive();
  // Call this between two looks: it drives, then pauses unless something advanced.
  void pass();
  // The same for a caller that looks at something else; `pause` is what that allows.
  void pass(Pause pause);

 private:
  Wait waiting_;
  Pause least_ = Pause::sleep;  // the least that those tested since the last one allow
  std::size_t tested_ = 0;      // of those in flight, since then
  bool drives_ = false;         // until it ends, no other does
};

}  // namespace tonari
