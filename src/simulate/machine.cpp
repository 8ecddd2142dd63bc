// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/machine.hpp"

#include <cmath>

#include "base/error.hpp"

namespace tonari::sim {
namespace {

Ticks Link::* parameter_called(std::string_view name) {
  if (name == "L") return &Link::latency;
  if (name == "o") return &Link::overhead;
  if (name == "g") return &Link::gap;
  if (name == "G") return &Link::byte;
  fail(Errc::argument, "there is no parameter '", name, "'; choose L, o, g or G");
}

}  // namespace

Ticks to_ticks(double seconds) {
  const double ticks = std::round(seconds * ticks_per_second);
  return ticks < static_cast<double>(longest_time) ? static_cast<Ticks>(ticks) : longest_time;
}

Ticks parameter_of(const Machine& machine, std::string_view name) {
  return machine.network.*parameter_called(name);
}

Machine scaled(Machine machine, std::string_view parameter, double factor) {
  Ticks& value = machine.network.*parameter_called(parameter);
  if (!(factor >= 0) || !std::isfinite(factor))
    fail(Errc::argument, "the factor of ", parameter, " is ", factor, "; it must be 0 or more");
  value = to_ticks(to_seconds(value) * factor);
  return machine;
}

Ticks stretched(Ticks time, double times) {
  return times > 1 ? to_ticks(to_seconds(time) * times) : time;
}

Machine in_turns(Machine machine, std::uint32_t ranks) {
  const double times = machine.sharing.times(ranks);
  if (times <= 1) return machine;
  for (Link* link : {&machine.self, &machine.node, &machine.network}) {
    link->overhead = stretched(link->overhead, times);
    link->gap = stretched(link->gap, times);
    link->byte = stretched(link->byte, times);
  }
  const Ticks turns = stretched(machine.sharing.turn, times);
  machine.node.latency += turns;
  machine.network.latency += turns;
  machine.rendezvous += turns;  // its receiver is asked first
  machine.work *= times;
  machine.sharing = {};
  return machine;
}

Machine machine_of(const LogGP& m) {
  Machine machine;
  machine.network = {to_ticks(m.L), to_ticks(m.o), to_ticks(m.g), to_ticks(m.G), true};
  machine.node = {to_ticks(m.shared_latency), to_ticks(m.shared_overhead), 0,
                  to_ticks(m.shared_byte >= 0 ? m.shared_byte : m.copy_byte), false};
  machine.self = machine.node;
  machine.eager = m.eager;
  machine.rendezvous = to_ticks(m.rendezvous);
  machine.sharing = {static_cast<std::uint32_t>(m.ranks_per_core), 0, to_ticks(m.core_switch)};
  return machine;
}

}  // namespace tonari::sim
