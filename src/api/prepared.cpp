#include "api/prepared.hpp"

#include "api/handles.hpp"
#include "engine/agree.hpp"

namespace tonari {

Prepared::Prepared() { make_room_in_flight(); }
Prepared::~Prepared() {
  if (exchange) discharge(*exchange);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) (void)exchange.release();  // its MPI objects are gone already
}

template <typename Work>
void Prepared::or_broken(Work work) {
  if (broken) throw *broken;
  try {
    work();
  } catch (...) {
    exchange->give_up();
    broken = caught([] { throw; });
    throw;
  }
}

void Prepared::start() {
  if (exchange->nothing()) {
    complete = true;
    return;
  }
  running = true;
  complete = false;
  or_broken([&] { exchange->start(); });
  enlist(*exchange);
}

void Prepared::finish() {
  running = false;
  complete = true;
}

bool Prepared::test(Waiter& waiter) {
  if (!running && complete) return true;
  or_broken([&] {
    if (waiter.test(*exchange)) finish();
  });
  return complete;
}

void Prepared::wait() {
  if (!running && complete) return;
  or_broken([&] {
    wait_and_drive(*exchange);
    finish();
  });
}

}  // namespace tonari
