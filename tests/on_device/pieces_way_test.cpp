// SPDX-License-Identifier: BSD-3-Clause
// Requests of many bytes whose ranks are on several nodes: they are staged in pieces.
#include "on_device/device_ring.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;

class PiecesWay : public DeviceRing {
 protected:
  static constexpr int numbers = 150'000;  // of a block, more than a piece
  static constexpr std::size_t bytes = 2 * numbers * sizeof(int);

  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "there is one node";
    Nodes::set("1");
    DeviceRing::SetUp();
  }
  void TearDown() override {
    if (near) DeviceRing::TearDown();
  }
  int prepare_large(const MemoryOnDevice& out, const MemoryOnDevice& in,
                    MPI_Info info = MPI_INFO_NULL) {
    return tonari_alltoall_init(out.at(), numbers, MPI_INT, in.at(), numbers, MPI_INT, near, info,
                                &request);
  }
  static int value(int rank, int round, int block, int k) {
    return 1'000'003 * rank + 10'007 * round + 555'557 * block + k;
  }
  static void put(const MemoryOnDevice& out, int round) {
    for (int b = 0; b < 2; ++b)
      for (int k = 0; k < numbers; ++k)
        out.values<int>()[numbers * b + k] = value(world_rank(), round, b, k);
  }
  static void expect_all(const MemoryOnDevice& in, int round) {
    for (int b = 0; b < 2; ++b)
      for (int k = 0; k < numbers; ++k)
        ASSERT_EQ(in.values<int>()[numbers * b + k],
                  value(b == 0 ? before() : behind(), round, b, k))
            << "round " << round << ", block " << b << ", number " << k;
  }
  std::string channel() const {
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    return info.channel;
  }
  void exchange(const MemoryOnDevice& out, const MemoryOnDevice& in, int round) {
    put(out, round);
    EXPECT_OK(tonari_start_with(request, out.at(), in.at()));
    EXPECT_OK(tonari_wait(request));
    expect_all(in, round);
  }

  tonari_request request = TONARI_REQUEST_NULL;
};

TEST_F(PiecesWay, IsTakenForManyBytes) {
  tonari::SimulatedOptions quick;
  quick.watch_order = false;
  UsedDevice device(quick);
  MemoryOnDevice out(device.program(), bytes), in(device.program(), bytes),
      other(device.program(), bytes);
  ASSERT_OK(prepare_large(out, in));
  EXPECT_EQ(channel(), "pinned-pieces");
  EXPECT_CONTAINS(tonari_request_describe(request),
                  "send blocks on device 0 in 4 pieces and receive blocks on device 0 in 4 pieces "
                  "are staged through 2400000 bytes of pinned host memory, because rank 0: its "
                  "neighbor 1 is on another node; and");
  const tonari::DeviceStream stream = device.program().make_stream(0);
  auto* const handle = reinterpret_cast<void*>(stream.value);
  exchange(out, in, 1);
  exchange(out, other, 2);
  put(out, 3);
  EXPECT_OK(tonari_start_on(request, handle));
  EXPECT_OK(tonari_wait_on(request, handle));
  device.program().synchronize(stream);
  expect_all(other, 3);
  exchange(other, in, 4);
  device.program().end_stream(stream);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(PiecesWay, IsNotTakenForFewBytesNorWhereTheProgramAsksForOthers) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), bytes), in(device.program(), bytes);
  const Info quick{{"tonari_tune", "off"}};
  ASSERT_OK(prepare(out.at(), in.at(), quick, &request));
  EXPECT_CONTAINS(tonari_request_describe(request),
                  "not in pieces, because no rank has 1048576 bytes to cut");
  EXPECT_OK(tonari_request_free(&request));
  ASSERT_OK(prepare_large(out, in, Info{{"tonari_channel", "p2p-packed"}}));
  EXPECT_EQ(channel(), "p2p-packed");
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(PiecesWay, IsNotTakenOnOneNode) {
  EXPECT_OK(tonari_neighborhood_free(&near));
  Nodes::set("");
  DeviceRing::SetUp();
  tonari::SimulatedOptions no_handles;
  no_handles.lacks = {tonari::Ability::flags_in_order};
  UsedDevice device(no_handles);
  MemoryOnDevice out(device.program(), bytes), in(device.program(), bytes);
  ASSERT_OK(prepare_large(out, in));
  EXPECT_CONTAINS(tonari_request_describe(request), "not in pieces, because on one node the host");
  for (int round = 0; round < 2; ++round) exchange(out, in, round);
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
