#include "engine/in_flight.hpp"

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace tonari {
namespace {

struct InFlight {
  InFlight() {
    exchanges.reserve(1024);  // here, which an init comes by, so that start allocates nothing
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    threads = level == MPI_THREAD_MULTIPLE;
  }
  std::unique_lock<std::mutex> lock() { return threads ? std::unique_lock(mutex) : std::unique_lock<std::mutex>(); }
  void remove(const Exchange& exchange) { std::erase(exchanges, &exchange); }

  std::vector<Exchange*> exchanges;
  std::mutex mutex;
  bool threads = false;
};

InFlight& in_flight() {
  static InFlight all;
  return all;
}

}  // namespace

void enlist(Exchange& exchange) {
  if (exchange.proceeds_by_itself()) return;
  const auto lock = in_flight().lock();
  in_flight().exchanges.push_back(&exchange);
}

void discharge(Exchange& exchange) {
  const auto lock = in_flight().lock();
  in_flight().remove(exchange);
}

bool any_in_flight() {
  const auto lock = in_flight().lock();
  return !in_flight().exchanges.empty();
}

void drive_all() {
  const auto lock = in_flight().lock();
  for (Exchange* exchange : in_flight().exchanges) exchange->test();  // completion shows at the program's own test or wait
}

namespace {

bool test_or_remove(Exchange& exchange) {
  const auto lock = in_flight().lock();
  try {
    return exchange.test();
  } catch (...) {
    in_flight().remove(exchange);
    throw;
  }
}

// Whether no other is in flight; then this one is nobody's but the caller's.
bool take_if_alone(Exchange& exchange) {
  const auto lock = in_flight().lock();
  std::vector<Exchange*>& all = in_flight().exchanges;
  const bool alone = std::ranges::all_of(all, [&](const Exchange* e) { return e == &exchange; });
  if (alone) all.clear();
  return alone;
}

}  // namespace

bool test_enlisted(Exchange& exchange) { return exchange.proceeds_by_itself() ? exchange.test() : test_or_remove(exchange); }

void wait_and_drive(Exchange& exchange) {
  if (exchange.proceeds_by_itself() || take_if_alone(exchange)) return exchange.wait();
  while (!test_or_remove(exchange)) drive_all();
}

}  // namespace tonari
