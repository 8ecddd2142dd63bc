#include "engine/in_flight.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace tonari {
namespace {

struct Member {
  Exchange* exchange;
  std::exception_ptr error = nullptr;  // it failed while another was waited for; its own test or wait says so
};

std::atomic<std::size_t> enlisted{0};  // members of what follows, for a look without a lock

struct InFlight {
  InFlight() {
    members.reserve(1024);
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    threads = level == MPI_THREAD_MULTIPLE;
  }
  std::unique_lock<std::mutex> lock() { return threads ? std::unique_lock(mutex) : std::unique_lock<std::mutex>(); }
  void add(Exchange& exchange) {
    members.push_back({&exchange});
    enlisted.store(members.size(), std::memory_order_relaxed);
  }
  void remove(const Exchange& exchange) {
    std::erase_if(members, [&](const Member& m) { return m.exchange == &exchange; });
    enlisted.store(members.size(), std::memory_order_relaxed);
  }

  std::vector<Member> members;
  std::mutex mutex;
  bool threads = false;
};

InFlight& in_flight() {
  static InFlight all;
  return all;
}

}  // namespace

void make_room_in_flight() { in_flight(); }

void enlist(Exchange& exchange) {
  if (exchange.proceeds_by_itself()) return;
  const auto lock = in_flight().lock();
  in_flight().add(exchange);
}

void discharge(Exchange& exchange) {
  if (exchange.proceeds_by_itself()) return;
  const auto lock = in_flight().lock();
  in_flight().remove(exchange);
}

bool any_in_flight() { return enlisted.load(std::memory_order_relaxed) > 0; }

void drive_all() {
  const auto lock = in_flight().lock();
  for (Member& m : in_flight().members) {
    if (m.error) continue;
    try {
      m.exchange->test();  // completion shows at the program's own test or wait
    } catch (...) {
      m.error = std::current_exception();
    }
  }
}

namespace {

bool test_or_remove(Exchange& exchange) {
  const auto lock = in_flight().lock();
  std::vector<Member>& all = in_flight().members;
  const auto found = std::ranges::find_if(all, [&](const Member& m) { return m.exchange == &exchange; });
  try {
    if (found != all.end() && found->error) std::rethrow_exception(found->error);
    return exchange.test();
  } catch (...) {
    in_flight().remove(exchange);
    throw;
  }
}

// Whether no other is in flight; then this one is nobody's but the caller's.
bool take_if_alone(Exchange& exchange) {
  const auto lock = in_flight().lock();
  std::vector<Member>& all = in_flight().members;
  const bool alone = std::ranges::all_of(all, [&](const Member& m) { return m.exchange == &exchange && !m.error; });
  if (alone) all.clear(), enlisted.store(0, std::memory_order_relaxed);
  return alone;
}

}  // namespace

bool test_enlisted(Exchange& exchange) {
  if (exchange.proceeds_by_itself()) {
    if (exchange.test()) return true;
    if (any_in_flight()) drive_all();
    return false;
  }
  if (test_or_remove(exchange)) return true;
  if (enlisted.load(std::memory_order_relaxed) > 1) drive_all();  // who tests one of them in a loop waits, too
  return false;
}

void wait_and_drive(Exchange& exchange) {
  if (exchange.proceeds_by_itself() ? !any_in_flight() : take_if_alone(exchange)) return exchange.wait();
  while (!test_or_remove(exchange)) drive_all();
}

}  // namespace tonari
