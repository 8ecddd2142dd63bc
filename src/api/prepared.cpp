#include "api/prepared.hpp"

#include "api/handles.hpp"
#include "engine/agree.hpp"
#include "engine/in_flight.hpp"

namespace tonari {

Prepared::Prepared() { make_room_in_flight(); }
Prepared::~Prepared() {
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
    discharge(*exchange);
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
  discharge(*exchange);
  running = false;
  complete = true;
}

bool Prepared::test() {
  if (!running && complete) return true;
  or_broken([&] {
    if (test_enlisted(*exchange)) finish();
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
