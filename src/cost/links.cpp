// SPDX-License-Identifier: BSD-3-Clause
#include "cost/links.hpp"

#include <algorithm>
#include <limits>

namespace tonari {
namespace {

LogGP sharing_cores(LogGP m) {
  if (m.ranks_per_core <= 1) return m;
  const auto ranks = static_cast<double>(m.ranks_per_core);
  for (double LogGP::* work : {&LogGP::o, &LogGP::copy_block, &LogGP::copy_byte,
                               &LogGP::typed_block, &LogGP::shared_overhead})
    m.*work *= ranks;
  // Long messages ask first, which takes turns, too.
  for (double LogGP::* wait : {&LogGP::L, &LogGP::shared_latency, &LogGP::rendezvous})
    m.*wait += ranks * m.core_switch;
  m.ranks_per_core = 1;
  return m;
}

}  // namespace

LogGP touching(const LogGP& machine, double bytes) {
  LogGP m = machine;
  const double on_a_core = bytes * static_cast<double>(m.ranks_per_core);
  if (m.cache == 0 || on_a_core <= static_cast<double>(m.cache) || m.copy_beyond <= m.copy_byte)
    return m;
  m.node_byte = (m.node_byte >= 0 ? m.node_byte : m.G) + m.copy_beyond - m.copy_byte;
  m.copy_byte = m.copy_beyond;
  return m;
}

LogGP between_nodes(const LogGP& machine) { return sharing_cores(machine); }

LogGP on_a_node(const LogGP& machine) {
  LogGP m = machine;
  const auto take = [](double& general, double here) {
    if (here >= 0) general = here;
  };
  take(m.L, m.node_latency);
  take(m.o, m.node_overhead);
  take(m.g, m.node_gap);
  take(m.G, m.node_byte);
  take(m.rendezvous, m.node_rendezvous);
  if (m.node_eager > 0) m.eager = m.node_eager;
  // Here processors carry the bytes.
  m.G *= static_cast<double>(m.ranks_per_core);
  return sharing_cores(m);
}

LinkCosts alike(const LogGP& machine, ChannelCost channel) {
  const LinkCost one{between_nodes(machine), channel};
  return {one, one};
}

LinkCost through_memory(const LogGP& machine) {
  LogGP m = sharing_cores(machine);
  m.L = m.shared_latency;
  m.o = m.shared_overhead;
  m.g = m.rendezvous = 0;
  m.G = std::max(0.0, m.shared_byte) * static_cast<double>(machine.ranks_per_core);
  m.eager = std::numeric_limits<std::size_t>::max();
  return {m, {false, 0, false}};
}

LinkCosts mpi_messages(const LogGP& machine, ChannelCost channel, bool several_nodes,
                       std::span<const std::int32_t> node_of) {
  const LinkCost node{on_a_node(machine), channel};
  if (!several_nodes) return {node, node};
  return {{between_nodes(machine), channel}, node, node_of};
}

}  // namespace tonari
