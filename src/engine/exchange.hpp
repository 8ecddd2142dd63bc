// A prepared exchange: what a request holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tonari {

struct FlightSlot;  // engine/in_flight.cpp

// What pause an exchange bears after a test that did not find it complete.
enum class Pause : std::uint8_t {
  none,   // it went on, and there may be more to do
  yield,  // tests may be what the MPI proceeds by
  sleep,  // it waits for others
};

// Everything is pure, so that an exchange that holds another one cannot forget to forward a part
// (engine/wrapped_exchange.hpp).
class Exchange {
 public:
  virtual ~Exchange() = default;
  // start, then test until true or wait; then start again. They throw Errc::mpi and Errc::peer;
  // afterwards the exchange can only be destroyed. throws Errc::active if it cannot be started now;
  // nothing has happened then
  virtual void check_start() const = 0;
  virtual void start() = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
  virtual Pause pause() const = 0;

  // From now on buffers lie so far from those that the exchange was made with, by space
  // (channels/arguments.hpp). Local; never while it runs. After an error it can only be destroyed.
  virtual void rebind(std::span<const std::ptrdiff_t> shifts) = 0;

  virtual bool proceeds_by_itself() const = 0;  // needs no test to proceed
  // this rank neither sends, receives, copies nor passes anything on: it need not be started
  virtual bool nothing() const = 0;

  virtual int messages() const = 0;  // this rank sends per exchange
  // how many of them go which way, if there are several: "3 shared, 2 p2p-packed"
  virtual std::string channel_mix() const = 0;
  virtual Bytes bytes() const = 0;  // this rank sends per exchange
  virtual std::size_t scratch_bytes() const = 0;
  virtual void give_up() = 0;  // it failed: the others are told, so that they do not wait for it
  // Where a receive block of the last complete exchange can be read instead of in the receive
  // buffer, until the next start; null: it is in the buffer.
  virtual const std::byte* view(std::size_t block) const = 0;

  // while it is enlisted among those in flight; of the thread whose exchange it is
  FlightSlot* slot = nullptr;
};

// One that holds no other exchange: what most of them answer.
class LeafExchange : public Exchange {
 public:
  void check_start() const override {}
  Pause pause() const override { return Pause::yield; }
  void rebind(std::span<const std::ptrdiff_t> /*shifts*/) override {
    fail(Errc::internal, "an exchange that keeps its buffers got others");
  }
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return false; }
  std::string channel_mix() const override { return ""; }
  void give_up() override {}
  const std::byte* view(std::size_t /*block*/) const override { return nullptr; }
};

}  // namespace tonari
