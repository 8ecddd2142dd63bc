// SPDX-License-Identifier: BSD-3-Clause
// Tags of the messages that ranks send each other while something is made. They share one
// communicator with the exchanges, whose tags follow. Messages of different kinds have different
// tags: a rank may already send for the next step while another still probes for the last one.
#pragma once

namespace tonari {

enum ControlTag : int {
  planning_even,  // of planning together, in turn (engine/comm/mpi_bsp_comm.hpp)
  planning_odd,
  window_family,  // of making one-sided messages (channels/onesided/link.cpp)
  window_place,
  window_ready,
  measure_ping,  // of measuring the machine (engine/comm/calibrate.cpp)
  measure_burst,
  measure_go,
  measure_eager,
  measure_shared_memory,
  measure_word,
  segment_names,  // of connecting ranks through shared memory (channels/shared/, streams/)
  grid_files,     // of mapping the ghosts of grids (grid/ghost_maps.cpp)
  sparse_even,    // of sparse exchanges, in turn, and of their long messages
  sparse_odd,     // (sparse/sparse_exchange.hpp)
  sparse_long,
  device_offers,  // of connecting memory of devices (request/connect_packed.cpp)
  first_exchange_tag,
};

}  // namespace tonari
