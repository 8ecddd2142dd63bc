// A prepared exchange: what a request holds.
#pragma once

#include <cstddef>
#include <string>

#include "base/checked.hpp"

namespace tonari {

class Exchange {
 public:
  virtual ~Exchange() = default;
  // start, then test until true or wait; then start again. They throw Errc::mpi and Errc::peer; afterwards the exchange can only be destroyed.
  virtual void check_start() const {}  // throws Errc::active if it cannot be started now; nothing has happened then
  virtual void start() = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;

  virtual bool proceeds_by_itself() const { return false; }  // needs no test to proceed
  virtual bool nothing() const { return false; }             // this rank neither sends, receives, copies nor passes anything on: it need not be started

  virtual int messages() const = 0;          // this rank sends per exchange
  virtual std::string ways() const { return ""; }  // how many of them go which way, if there are several: "3 shared, 2 p2p-packed"
  virtual Bytes bytes() const = 0;           // this rank sends per exchange
  virtual std::size_t scratch_bytes() const = 0;
  virtual void give_up() {}  // it failed: the others are told, so that they do not wait for it
  // Where a receive block of the last complete exchange can be read instead of in the receive buffer, until the next start; null: it is in the buffer.
  virtual const std::byte* view(std::size_t block) const { (void)block; return nullptr; }
};

}  // namespace tonari
