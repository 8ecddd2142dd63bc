// The exchanges of this process that were started and are not complete are listed here. A rank
// waits in an agreement or for an exchange, and meanwhile it drives all of them on. Other ranks may
// need the blocks that pass through it before they can come to where it waits. That is MPI's rule
// of progress for its own requests.
//
// With MPI_THREAD_MULTIPLE any thread may come by here, and none keeps another from starting,
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

#include "engine/exchange.hpp"
#include "memory/wait.hpp"

namespace tonari {

// At init, so that start allocates nothing.
void make_room_in_flight();
// Ranks outnumber cores: who waits here shall soon give the core away. Once and for all.
void expect_crowd();

// After start. Exchanges that proceed by themselves are left alone. Allocates nothing up to 1,024
// in flight.
void enlist(Exchange& exchange);
// Before it is destroyed; one that is not enlisted is fine. Afterwards no other thread touches it.
void discharge(Exchange& exchange);

bool any_in_flight();
// As the exchange's own wait, but the others are driven on, too. Afterwards it is no longer
// enlisted, also if this throws.
void wait_and_drive(Exchange& exchange);

// A thread that waits by looking again and again.
class Waiter {
 public:
  Waiter();
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // As the exchange's own test. If it returns true or throws, the exchange is no longer enlisted.
  bool test(Exchange& exchange);
  // Tests all once that are in flight and were not tested just now, if no other thread that waits
  // does so. Throws nothing: what fails says so at its own test or wait.
  void drive();
  // Between two looks: drives, then pauses as any wait does, unless something went on.
  void pass();
  // The same for who looks at something else. pause: what that bears.
  void pass(Pause pause);

 private:
  Wait waiting_;
  Pause least_ = Pause::sleep;  // that those bear that were tested since the last pause
  std::size_t tested_ = 0;      // of those in flight, since then
  bool drives_ = false;         // until it ends, no other does
};

}  // namespace tonari
