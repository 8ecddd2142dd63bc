// SPDX-License-Identifier: BSD-3-Clause
// Simulates a schedule event by event.
//
// The rules are those of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010), in whole numbers:
//
//   * A rank has one processor and one interface for each direction, perhaps shared. What waits for
//     the same ones goes in the order of numbers, which are given when something becomes ready.
//   * calc       takes its time of the processor. What waits for it may start when it ends.
//   * send       waits for the processor and the sending interface. It takes o of the one, and
//                g + (k-1) G of the other. The message arrives o + L after the start.
//   * message    waits for the processor and the receiving interface of its rank. It takes
//                o + (k-1) G of the one, and g + (k-1) G of the other, posted or not.
//   * recv       is posted at once, and done when its message is taken.
//   * A send is done when it starts, and a long one when its message meets its receive; the
//     sender's processor goes on no earlier then.
//   * Steps of one rank that become ready at one time start as sends, receives, calculations.
#pragma once

#include <cstdint>
#include <memory>

#include "simulate/machine.hpp"
#include "simulate/schedule.hpp"

namespace tonari::sim {

struct Outcome {
  Ticks end = 0;             // until the last processor is free
  std::uint64_t events = 0;  // steps, and messages that arrive
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Goes on for about so many events. False: all is done. Throws Errc::argument if the schedule
  // never ends, or if its times do not fit.
  virtual bool advance(std::uint64_t events) = 0;
  virtual std::uint64_t steps_done() const = 0;
  virtual Outcome outcome() const = 0;  // once all is done
  // Whether the order of two events at one rank was only decided by the numbers of other ranks.
  virtual bool tied() const = 0;
};

// Both must outlive it. watch: look for ties, too. Throws Errc::overflow if there are more steps
// than numbers.
std::unique_ptr<Engine> make_engine(const Schedule& schedule, const Machine& machine,
                                    bool watch = false);

// Bytes that an engine will take, before it is made.
double engine_memory(const Schedule& schedule, const Machine& machine);

// All at once.
Outcome run(const Schedule& schedule, const Machine& machine);

}  // namespace tonari::sim
