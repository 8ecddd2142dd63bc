// SPDX-License-Identifier: BSD-3-Clause
// What the cost model's parameters take to measure, by a clock that is made up.
#include "engine/comm/calibrate.hpp"

#include <array>
#include <optional>

#include "engine/comm/read_topology.hpp"
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

double of_a_quiet_machine() {
  static double time = 0;
  return time += 1e-7;
}
double of_a_busy_machine() {
  static double time = 0;
  return time += 0.004;  // a time slice at each look
}
double of_a_stopped_clock() { return 1; }

struct Measured {
  tonari::LogGP machine;
  bool complete = false;
};

Measured measure(double (*clock)()) {
  const auto node =
      tonari::read_node(MPI_COMM_WORLD,
                        tonari::emulated_node(MPI_COMM_WORLD, tonari::nodes_in_environment()),
                        [] { tonari::stay_together(MPI_COMM_WORLD); })
          .node;
  std::optional<OtherClock> other;
  if (clock) other.emplace(clock);
  Measured found;
  found.machine = tonari::measure_machine(MPI_COMM_WORLD, node, found.complete);
  return found;
}

// Nobody waits for the rest of the parameters, and nobody remembers those that were not measured.
TEST(Calibration, EndsSoonOnABusyMachine) {
  const Measured quiet = measure(of_a_quiet_machine), busy = measure(of_a_busy_machine);
  EXPECT_TRUE(quiet.complete);
  if (world_size() == 1) GTEST_SKIP() << "one rank sends no messages";
  EXPECT_EQ(busy.complete, world_rank() > 0 && world_rank() < world_size() - 1);
  EXPECT_EQ(busy.machine.G, tonari::LogGP{}.G) << "as usual, as it was not measured";
  EXPECT_NE(quiet.machine.G, tonari::LogGP{}.G);
}

// A clock that is set back stands still for as long.
TEST(Calibration, EndsWhereTheClockStandsStill) {
  EXPECT_TRUE(measure(of_a_stopped_clock).complete);
}

// By the machine's own clock they are times, the same on all ranks.
TEST(Calibration, FindsTimesThatAllRanksShare) {
  const Measured found = measure(nullptr);
  const std::array<double, 4> mine{found.machine.L, found.machine.o, found.machine.G,
                                   found.machine.copy_byte};
  std::array<double, 4> least{}, most{};
  MPI_Allreduce(mine.data(), least.data(), 4, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(mine.data(), most.data(), 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  for (const double time : mine) EXPECT_GT(time, 0);
}

}  // namespace
