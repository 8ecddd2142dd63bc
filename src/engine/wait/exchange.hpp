// SPDX-License-Identifier: BSD-3-Clause
// A prepared exchange: what a request holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tonari {

class Awaited;      // engine/wait/awaited.hpp
struct FlightSlot;  // engine/wait/in_flight.cpp

// The pause that an exchange allows after a test that did not find it complete.
enum class Pause : std::uint8_t {
  none,   // it advanced, and there may be more to do
  yield,  // the MPI may proceed only in tests
  sleep,  // it waits for other ranks
};

// All functions are pure, so that an exchange that wraps another one cannot forget to forward one
// (engine/wait/wrapped_exchange.hpp).
class Exchange {
 public:
  Exchange() = default;
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  // Start, then test until true or wait; then start again. They throw Errc::mpi and Errc::peer;
  // afterwards the exchange can only be destroyed. If start throws Errc::active, it cannot be
  // started now, and nothing has happened.
  virtual void check_start() const = 0;
  virtual void start() = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
  virtual Pause pause() const = 0;

  // From now on buffers lie so far from those that the exchange was made with, by space
  // (channels/arguments.hpp). Local; never while it runs. After an error it can only be destroyed.
  virtual void rebind(std::span<const std::ptrdiff_t> shifts) = 0;

  virtual bool proceeds_by_itself() const = 0;  // needs no test to proceed
  // this rank neither sends, receives, copies nor forwards: it need not be started
  virtual bool nothing() const = 0;

  virtual int messages() const = 0;  // that this rank sends per exchange
  // how many of them use which channel, if there are several: "3 shared, 2 p2p-packed"
  virtual std::string channel_mix() const = 0;
  virtual Bytes bytes() const = 0;  // that this rank sends per exchange
  virtual std::size_t scratch_bytes() const = 0;
  // Exchanges in place, whose memory is limited: what they have needed at most, so far, to know
  // where blocks are. Others do not count it.
  virtual std::size_t book_bytes() const { return 0; }
  virtual void give_up() = 0;  // after a failure, tells the others not to wait for it
  // Where a receive block of the last complete exchange can be read in place until the next start;
  // null if the block is in the receive buffer.
  virtual const std::byte* view(std::size_t block) const = 0;

  // What it waits for, while it runs; called between tests or in them, where it has waited for
  // long.
  virtual void awaits(Awaited& awaited) const = 0;
  // How reports name it, and all that it holds. The string outlives its last start.
  virtual void belongs_to(const std::string& call) { call_ = &call; }

  // while it is listed as in flight; belongs to the exchange's thread
  FlightSlot* slot = nullptr;

 protected:
  const std::string* call_ = nullptr;
};

// An exchange that holds no other one, with the usual answers.
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
  void awaits(Awaited& /*awaited*/) const override {}
};

}  // namespace tonari
