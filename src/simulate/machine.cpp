// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/machine.hpp"

#include <cmath>

namespace tonari::sim {

Ticks to_ticks(double seconds) {
  const double ticks = std::round(seconds * ticks_per_second);
  return ticks < static_cast<double>(longest_time) ? static_cast<Ticks>(ticks) : longest_time;
}

Machine machine_of(const LogGP& m) {
  Machine machine;
  machine.network = {to_ticks(m.L), to_ticks(m.o), to_ticks(m.g), to_ticks(m.G), true};
  machine.node = {to_ticks(m.shared_latency), to_ticks(m.shared_overhead), 0, to_ticks(m.copy_byte),
                  false};
  machine.self = machine.node;
  machine.eager = m.eager;
  machine.rendezvous = to_ticks(m.rendezvous);
  return machine;
}

}  // namespace tonari::sim
