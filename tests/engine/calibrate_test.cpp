// SPDX-License-Identifier: BSD-3-Clause
// What the cost model's parameters take to measure, by a clock that is made up.
#include "engine/comm/calibrate.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "engine/comm/read_topology.hpp"
#include "engine/comm/shared_comm.hpp"
#include "select/cache.hpp"
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
  const std::array<double, 6> mine{found.machine.L,           found.machine.o,
                                   found.machine.G,           found.machine.copy_byte,
                                   found.machine.core_switch, found.machine.copy_beyond};
  std::array<double, 6> least{}, most{};
  MPI_Allreduce(mine.data(), least.data(), 6, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(mine.data(), most.data(), 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  for (const double time : mine) EXPECT_GT(time, 0);
  EXPECT_GE(found.machine.copy_beyond, found.machine.copy_byte);
  EXPECT_GT(found.machine.cache, 0U);
  EXPECT_EQ(found.machine.shared_byte >= 0, world_size() > 1) << "all share a node";
}

// Turns on a core are measured where ranks take them, and only there.
TEST(Calibration, MeasuresTurnsWhereRanksShareCores) {
  const auto shared = tonari::SharedComm::of(MPI_COMM_WORLD);
  const bool crowded = shared->nodes()->ranks_per_core > 1 && world_size() > 1;
  EXPECT_EQ(measure(nullptr).machine.core_switch != tonari::LogGP{}.core_switch, crowded);
}

// Messages between nodes, and on one, where there are both.
TEST(Calibration, MeasuresBothDistances) {
  if (world_size() < 3) GTEST_SKIP() << "two ranks are on one node or on two";
  setenv("TONARI_NODES", "2", 1);
  const Measured found = measure(nullptr);
  unsetenv("TONARI_NODES");
  EXPECT_GT(found.machine.node_latency, 0);
  EXPECT_GT(found.machine.node_overhead, 0);
  EXPECT_GT(found.machine.node_eager, 0U);
  EXPECT_LT(measure(nullptr).machine.node_latency, 0) << "one node has one distance";
}

// A machine file, which only rank 0 has.
class NamedMachine {
 public:
  explicit NamedMachine(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              ("tonari-machine-" + std::to_string(getppid()))) {
    if (world_rank() == 0) std::ofstream(path_) << content;
    setenv("TONARI_MACHINE", world_rank() == 0 ? path_.c_str() : "not there", 1);
  }
  ~NamedMachine() {
    unsetenv("TONARI_MACHINE");
    if (world_rank() == 0) std::filesystem::remove(path_);
  }

 private:
  std::filesystem::path path_;
};

struct OwnComm {
  OwnComm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~OwnComm() { MPI_Comm_free(&comm); }
  MPI_Comm comm = MPI_COMM_NULL;
};

TEST(Calibration, TakesTheMachineOfAFile) {
  tonari::LogGP file;
  file.L = 3e-5, file.node_latency = 2e-6, file.core_switch = 7e-6;
  const NamedMachine named(to_text(file) + " ranks_per_core=77 ranks_per_node=4");
  const OwnComm own;
  const auto shared = tonari::SharedComm::of(own.comm);
  EXPECT_EQ(shared->machine().L, file.L);
  EXPECT_EQ(shared->machine().node_latency, file.node_latency);
  EXPECT_EQ(shared->machine().core_switch, file.core_switch);
  EXPECT_EQ(shared->machine().ranks_per_core, shared->nodes()->ranks_per_core) << "of this run";
  EXPECT_CONTAINS(shared->machine_key(), "machine ");
}

// What was measured with it is remembered for what it says, whatever its name.
TEST(Calibration, IsRememberedByTheMachineOfTheFile) {
  const auto key_with = [](double latency) {
    tonari::LogGP file;
    file.L = latency;
    const NamedMachine named(to_text(file));
    const OwnComm own;
    return tonari::SharedComm::of(own.comm)->machine_key();
  };
  const std::string first = key_with(1e-5);
  EXPECT_NE(first, key_with(2e-5));
  EXPECT_EQ(first, key_with(1e-5));
}

TEST(Calibration, SaysOnAllRanksWhatIsWrongWithTheFile) {
  const NamedMachine named("L=fast");
  const OwnComm own;
  const auto error = tonari::error_of([&] { (void)tonari::SharedComm::of(own.comm)->machine(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), tonari::Errc::file);
  EXPECT_CONTAINS(std::string(error->what()), "L is 'fast'; it must be a time in seconds");
}

}  // namespace
