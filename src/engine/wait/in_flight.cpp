// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/in_flight.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#include "base/lasting.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

bool several_threads() {
  static const bool several = [] {
    int level = MPI_THREAD_MULTIPLE;  // a later session may have more than the first
    if (world_runs()) MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }();
  return several;
}

}  // namespace

// One thread has it at a time. Without MPI_THREAD_MULTIPLE it is only a mark.
class Turn {
 public:
  bool try_take() {
    if (taken_.load(std::memory_order_relaxed)) return false;
    if (several_threads()) return !taken_.exchange(true, std::memory_order_acquire);
    taken_.store(true, std::memory_order_relaxed);
    return true;
  }
  // The thread that has it finishes soon, but may need the core for that.
  void take() {
    Wait waiting({.crowded = true, .looks = 64});
    while (!try_take()) waiting.idle();
  }
  void let_go() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

// A cache line of its own: a thread that starts and completes exchanges does not disturb the next
// slot.
struct alignas(64) FlightSlot {
  Turn turn;  // without the turn, this only tells if there is one
  std::atomic<Exchange*> exchange =
      nullptr;               // without the turn, a thread sees only whether there is one
  std::exception_ptr error;  // with which it failed while another was waited for
};

namespace {

struct SlotBlock {
  std::array<FlightSlot, 1024> slots;
  std::atomic<SlotBlock*> next = nullptr;
};

SlotBlock& first_block() { return lasting<SlotBlock>(); }

std::atomic<std::size_t> in_slots{0};  // never more than there are exchanges in slots
std::atomic<bool> crowded{false};
Turn driving;

void count(std::ptrdiff_t more) {
  const auto step = static_cast<std::size_t>(more);
  if (several_threads())
    in_slots.fetch_add(step, std::memory_order_relaxed);
  else
    in_slots.store(in_slots.load(std::memory_order_relaxed) + step, std::memory_order_relaxed);
}

SlotBlock& next_block(SlotBlock& block) {
  if (SlotBlock* next = block.next.load(std::memory_order_acquire)) return *next;
  SlotBlock* const made = new SlotBlock;
  SlotBlock* other = nullptr;
  if (block.next.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *other;
}

// The first free slot, so that those in use are found soon. Takes its turn.
FlightSlot& take_free_slot() {
  for (SlotBlock* block = &first_block();; block = &next_block(*block))
    for (FlightSlot& slot : block->slots) {
      if (slot.exchange.load(std::memory_order_relaxed) || !slot.turn.try_take()) continue;
      if (!slot.exchange.load(std::memory_order_relaxed)) return slot;
      slot.turn.let_go();
    }
}

// The exchange's thread calls this when it has the turn.
void leave(Exchange& exchange) {
  FlightSlot& slot = *std::exchange(exchange.slot, nullptr);
  count(-1);
  slot.error = nullptr;
  slot.exchange.store(nullptr, std::memory_order_relaxed);
  slot.turn.let_go();
}

// The caller has the turn. Returns the pause that it allows.
Pause drive_on(FlightSlot& slot) {
  Exchange* const exchange = slot.exchange.load(std::memory_order_relaxed);
  if (!exchange || slot.error) return Pause::sleep;
  try {
    // its own test or wait will find it complete
    return exchange->test() ? Pause::sleep : exchange->pause();
  } catch (...) {
    slot.error = std::current_exception();
    return Pause::sleep;
  }
}

Pause drive_if_free(FlightSlot& slot) {
  if (!slot.turn.try_take()) return Pause::sleep;
  const Pause pause = drive_on(slot);
  slot.turn.let_go();
  return pause;
}

// Returns the pause that all of them allow.
Pause drive_those_in_flight() {
  Pause least = Pause::sleep;
  std::size_t left = in_slots.load(std::memory_order_relaxed);
  for (SlotBlock* block = &first_block(); block && left > 0;
       block = block->next.load(std::memory_order_acquire))
    for (auto slot = block->slots.begin(); slot != block->slots.end() && left > 0; ++slot) {
      if (!slot->exchange.load(std::memory_order_relaxed)) continue;
      least = std::min(least, drive_if_free(*slot));
      --left;
    }
  return least;
}

bool others_in_flight(const Exchange& exchange) {
  return in_slots.load(std::memory_order_relaxed) >
         static_cast<std::size_t>(exchange.slot != nullptr);
}

void take_turn(Exchange& exchange) {
  if (exchange.slot) exchange.slot->turn.take();
}

// The caller owns the exchange and has the turn. At the end the exchange leaves, complete or
// failed, unless it stays.
class Hold {
 public:
  explicit Hold(Exchange& exchange) : exchange_(exchange) {}
  ~Hold() {
    if (!exchange_.slot) return;
    if (stays_)
      exchange_.slot->turn.let_go();
    else
      leave(exchange_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void throw_what_failed() const {
    if (exchange_.slot && exchange_.slot->error) std::rethrow_exception(exchange_.slot->error);
  }
  void stay() { stays_ = true; }

 private:
  Exchange& exchange_;
  bool stays_ = false;
};

}  // namespace

void make_room_in_flight() { first_block(), several_threads(); }

void expect_crowd() { crowded.store(true, std::memory_order_relaxed); }

void enlist(Exchange& exchange) {
  if (exchange.proceeds_by_itself()) return;
  FlightSlot& slot = take_free_slot();
  slot.exchange.store(&exchange, std::memory_order_relaxed);
  exchange.slot = &slot;
  slot.turn.let_go();
  count(1);
}

void discharge(Exchange& exchange) {
  take_turn(exchange);
  const Hold last(exchange);
}

bool any_in_flight() { return in_slots.load(std::memory_order_relaxed) > 0; }

bool while_nobody_tests(Exchange& exchange, const std::function<void()>& work) {
  if (exchange.slot && !exchange.slot->turn.try_take()) return false;
  work();
  if (exchange.slot) exchange.slot->turn.let_go();
  return true;
}

void wait_and_drive(Exchange& exchange) {
  take_turn(exchange);
  const Hold hold(exchange);
  hold.throw_what_failed();
  if (!others_in_flight(exchange)) return exchange.wait();
  Waiter waiter;
  while (!exchange.test()) waiter.pass(exchange.pause());
}

Waiter::Waiter() : waiting_({.crowded = crowded.load(std::memory_order_relaxed)}) {}

Waiter::~Waiter() {
  if (drives_) driving.let_go();
}

bool Waiter::test(Exchange& exchange) {
  if (exchange.slot && !exchange.slot->turn.try_take()) {
    ++tested_;
    return false;
  }
  Hold hold(exchange);
  hold.throw_what_failed();
  if (exchange.test()) return true;
  hold.stay();
  if (exchange.slot) ++tested_;
  least_ = std::min(least_, exchange.pause());
  return false;
}

void Waiter::drive() {
  if (in_slots.load(std::memory_order_relaxed) <= std::exchange(tested_, 0)) return;
  drives_ = drives_ || driving.try_take();
  if (drives_) least_ = std::min(least_, drive_those_in_flight());
}

void Waiter::pass() {
  drive();
  const Pause pause = std::exchange(least_, Pause::sleep);
  if (pause == Pause::none)
    waiting_.reset();
  else
    waiting_.idle(pause == Pause::sleep);
}

void Waiter::pass(Pause pause) {
  least_ = std::min(least_, pause);
  pass();
}

}  // namespace tonari
