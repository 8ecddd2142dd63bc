#include "api/prepared.hpp"

#include "api/handles.hpp"
#include "engine/agree.hpp"
#include "engine/in_flight.hpp"

namespace tonari {

Prepared::Prepared() = default;
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
  or_broken([&] {
    if (test_enlisted(*exchange)) finish();
  });
  return complete;
}

void Prepared::wait() {
  or_broken([&] {
    wait_and_drive(*exchange);
    finish();
  });
}

}  // namespace tonari
