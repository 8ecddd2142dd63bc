// The exchanges of this process that were started and are not complete. While a rank waits, in an agreement or for one of them, it drives all of them on:
// others may need the blocks that pass through it before they can come to where it waits. That is MPI's rule of progress for its own requests.
//
// With MPI_THREAD_MULTIPLE any thread may come by here; then one mutex is held while exchanges that are enlisted are tested. A thread that waits while nothing else is
// in flight leaves what other threads start meanwhile to them.
#pragma once

#include "engine/exchange.hpp"

namespace tonari {

// At init, so that start allocates nothing.
void make_room_in_flight();
// After start. Exchanges that proceed by themselves are left alone. Allocates nothing up to 1,024 in flight.
void enlist(Exchange& exchange);
void discharge(Exchange& exchange);  // complete, or to be destroyed; one that is not enlisted is fine

bool any_in_flight();
// Tests all of them once. Throws nothing: what fails says so at its own test or wait.
void drive_all();
// As the exchange's own test and wait, but they drive the others on, too. If they throw, the exchange is no longer enlisted.
bool test_enlisted(Exchange& exchange);
void wait_and_drive(Exchange& exchange);

}  // namespace tonari
