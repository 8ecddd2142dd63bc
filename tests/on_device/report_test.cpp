// SPDX-License-Identifier: BSD-3-Clause
// The report says in a sentence why blocks in memory of a GPU took no faster way. It is read here
// before MPI_Finalize would print it.
#include <cstdlib>

#include "engine/comm/recorded.hpp"
#include "on_device/device_ring.hpp"
#include "on_device/mpi_takes_devices.hpp"
#include "report/print.hpp"

namespace {

using namespace tonari::test;

// A ring on a communicator of its own, which records what is done.
class DeviceReport : public DeviceRing {
 protected:
  void SetUp() override {
    setenv("TONARI_REPORT", "/dev/null", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    (void)tonari::take_what_is_gone();
  }
  void TearDown() override {
    if (near) DeviceRing::TearDown();
    MPI_Comm_free(&comm_);
    unsetenv("TONARI_REPORT");
  }
  void make_ring() {
    const int to[] = {behind(), before()}, from[] = {before(), behind()};
    ASSERT_OK(tonari_neighborhood_create_adjacent(comm_, 2, from, MPI_UNWEIGHTED, 2, to,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  }
  void request(UsedDevice& device, MPI_Info info) {
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), info, &request));
    out.values<int>()[0] = sent(1, 0), out.values<int>()[1] = sent(1, 1);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    expect_received(in.values<int>(), 1);
    EXPECT_OK(tonari_request_free(&request));
  }
  // Of what has been freed.
  void expect_told(const std::string& channel, const std::string& why) {
    const tonari::ReportTable gone = tonari::take_what_is_gone();
    const std::string line = "  no faster way between GPUs, because " + why;
    EXPECT_CONTAINS(tonari::text_of(gone), channel);
    EXPECT_EQ(tonari::text_of(gone).find(line) != std::string::npos, !why.empty())
        << tonari::text_of(gone);
    EXPECT_CONTAINS(tonari::json_of(gone), "\"no_faster\": \"" + why);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

TEST_F(DeviceReport, SaysWhyBlocksAreStaged) {
  UsedDevice device;
  make_ring();
  request(device, Info{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}});
  expect_told("p2p-packed, staged", "channel 'p2p-packed' is one of the host");
  request(device, Info{{"tonari_tune", "off"}});
  expect_told("device-handles", "");
}

TEST_F(DeviceReport, SaysWhyAnMpiGetsThem) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  Nodes nodes;
  Nodes::set("1");
  UsedDevice device;
  make_ring();
  request(device, Info{{"tonari_tune", "off"}});
  expect_told(", staged", "rank 0: its neighbor 1 is on another node; and this MPI");
  const MpiTakesDevices mpi(device.program());
  request(device, Info{{"tonari_tune", "off"}});
  expect_told("device-mpi", "rank 0: its neighbor 1 is on another node");
}

TEST_F(DeviceReport, SaysThatAnMpiStages) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  Nodes nodes;
  Nodes::set("1");
  tonari::SimulatedOptions no_adapter;
  no_adapter.lacks = {tonari::Ability::network_access};
  UsedDevice device(no_adapter);
  make_ring();
  const MpiTakesDevices mpi(device.program());
  request(device, Info{{"tonari_tune", "off"}});
  expect_told("device-mpi",
              "rank 0: its neighbor 1 is on another node; and the MPI stages messages to other "
              "nodes through the host, because no adapter of a network reads memory of this "
              "device");
}

TEST_F(DeviceReport, SaysThatOneShotCallsAreStaged) {
  UsedDevice device;
  make_ring();
  {
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    out.values<int>()[0] = sent(2, 0), out.values<int>()[1] = sent(2, 1);
    EXPECT_OK(tonari_alltoall(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near));
    expect_received(in.values<int>(), 2);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
  expect_told("calls", "one-shot calls always are staged");
}

}  // namespace
