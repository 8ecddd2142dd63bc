// A prepared exchange: what a request holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/checked.hpp"

namespace tonari {

struct FlightSlot;  // engine/in_flight.cpp

// What pause an exchange bears after a test that did not find it complete.
enum class Pause : std::uint8_t {
  none,   // it went on, and there may be more to do
  yield,  // tests may be what the MPI proceeds by
  sleep,  // it waits for others
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  // start, then test until true or wait; then start again. They throw Errc::mpi and Errc::peer;
  // afterwards the exchange can only be destroyed. throws Errc::active if it cannot be started now;
  // nothing has happened then
  virtual void check_start() const {}
  virtual void start() = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
  virtual Pause pause() const { return Pause::yield; }

  virtual bool proceeds_by_itself() const { return false; }  // needs no test to proceed
  // this rank neither sends, receives, copies nor passes anything on: it need not be started
  virtual bool nothing() const { return false; }

  virtual int messages() const = 0;  // this rank sends per exchange
  // how many of them go which way, if there are several: "3 shared, 2 p2p-packed"
  virtual std::string ways() const { return ""; }
  virtual Bytes bytes() const = 0;  // this rank sends per exchange
  virtual std::size_t scratch_bytes() const = 0;
  virtual void give_up() {}  // it failed: the others are told, so that they do not wait for it
  // Where a receive block of the last complete exchange can be read instead of in the receive
  // buffer, until the next start; null: it is in the buffer.
  virtual const std::byte* view(std::size_t block) const {
    (void)block;
    return nullptr;
  }

  // while it is enlisted among those in flight; of the thread whose exchange it is
  FlightSlot* slot = nullptr;
};

}  // namespace tonari
