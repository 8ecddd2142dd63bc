// SPDX-License-Identifier: BSD-3-Clause
// What users of other libraries complain about, of halos in memory of GPUs. Each is tried:
//
//   stale halos (GHEX 220 to 224)                stream_order_test.cpp, packed_orders_test.cpp
//   each empty peer costs (openxla/xla 46982)    EmptyPeersCostNothing
//   datatypes on GPUs (uDALES 377)               TheMpiGetsNoDatatypes
//   28,000 tiny messages (SELF 142)              TinyBlocksAreOneLaunchAndOneMessage
//   many kernels pack (PEREGRINE 96)             Handles.AStartIsOneLaunch, and for each way
//   frameworks' memory is slow (nixl 1754)       CudaPools.*, Handles.AreTakenForMemoryThatHasNone
//   a put stalls compute (nccl 2238)             AStartHoldsUpNoOtherStream
//   "GPU-aware", but staged (anuga_core 223)     ConnectMessages.AnMpiThat*, MpiWay.SaysThat*
//   graphs that are not symmetric (anemoi 1415)  OneWayGraphs
//   the MPI knows no streams (heat 2261)         AnMpiFollowsLateProducers
#include "on_device/mpi_takes_devices.hpp"
#include "on_device/stream_program.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

class Complaints : public DeviceRing {
 protected:
  // The n-th rank behind this one, or before it.
  static int at(int distance) {
    const int ranks = world_size();
    return ((world_rank() + distance) % ranks + ranks) % ranks;
  }
  // Instead of the ring. Edge k goes to the rank that lies so far behind.
  void connect(const std::vector<int>& distances) {
    EXPECT_OK(tonari_neighborhood_free(&near));
    std::vector<int> to, from;
    for (const int distance : distances) to.push_back(at(distance)), from.push_back(at(-distance));
    const int degree = static_cast<int>(to.size());
    ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, degree, from.data(),
                                                  MPI_UNWEIGHTED, degree, to.data(), MPI_UNWEIGHTED,
                                                  MPI_INFO_NULL, &near));
  }
  // As if each rank had a node of its own.
  void spread() {
    Nodes::set("1");
    EXPECT_OK(tonari_neighborhood_free(&near));
    near = make(MPI_INFO_NULL);
  }
  static void run(tonari_request request) {
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
  }
  // What one exchange takes.
  struct Cost {
    std::size_t launches = 0, flags = 0;
    bool operator==(const Cost&) const = default;
  };
  static Cost cost_of(UsedDevice& device, tonari_request request) {
    const Cost before{device->launches(), device->flags()};
    run(request);
    return {device->launches() - before.launches, device->flags() - before.flags};
  }

  Nodes nodes_;  // as they were, at the end
  const Info quick{{"tonari_tune", "off"}};
};

// Of ten neighbors one gets something. The exchange is then one with one neighbor.
TEST_F(Complaints, EmptyPeersCostNothing) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const std::vector<int> all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<Cost> costs;
  for (const std::size_t degree : {1u, 10u}) {
    connect({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(degree)});
    std::vector<int> counts(degree);
    const std::vector<MPI_Aint> displacements(degree);
    counts[0] = 2;
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoallv_init(out.at(), counts.data(), displacements.data(), MPI_INT, in.at(),
                                    counts.data(), displacements.data(), MPI_INT, near, quick,
                                    &request));
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    EXPECT_EQ(std::string(info.channel), "device-handles");
    EXPECT_EQ(info.messages, 1);
    for (int round = 0; round < 3; ++round) {
      out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
      costs.push_back(cost_of(device, request));
      EXPECT_EQ(in.values<int>()[0], sent(round, 0, before()));
      EXPECT_EQ(in.values<int>()[1], sent(round, 1, before()));
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  EXPECT_EQ(costs.front().launches, 2u);
  EXPECT_EQ(std::ranges::count(costs, costs.front()), 6);
}

// Strided types are packed by one launch. An MPI that takes memory of GPUs gets bytes there.
TEST_F(Complaints, TheMpiGetsNoDatatypes) {
  spread();
  UsedDevice device;
  const MpiTakesDevices mpi(device.program());
  constexpr int rows = 50;
  MemoryOnDevice out(device.program(), 2 * rows * 8), in(device.program(), 2 * rows * 8);
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 2, MPI_INT, &column);
  const int ones[] = {1, 1};
  const MPI_Aint places[] = {0, sizeof(int)};
  const MPI_Datatype types[] = {column, column};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoallw_init(out.at(), ones, places, types, in.at(), ones, places, types, near,
                                  quick, &request));
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 2 * rows; ++k) out.values<int>()[k] = sent(round, k);
    EXPECT_EQ(cost_of(device, request).launches, 2u);
    for (int k = 0; k < 2 * rows; ++k)
      EXPECT_EQ(in.values<int>()[k], sent(round, k, k % 2 == 0 ? before() : behind()));
  }
  EXPECT_FALSE(mpi.derived());
  EXPECT_OK(tonari_request_free(&request));
  MPI_Type_free(&column);
}

// Blocks of one number each: 1,000 to the rank behind, in another order than they lie in memory.
TEST_F(Complaints, TinyBlocksAreOneLaunchAndOneMessage) {
  constexpr int blocks = 1000;
  for (const bool by_the_mpi : {false, true}) {
    if (by_the_mpi && world_size() == 1) continue;
    Nodes::set(by_the_mpi ? "1" : "");
    connect(std::vector<int>(blocks, 1));
    UsedDevice device;
    const MpiTakesDevices mpi(device.program());
    MemoryOnDevice out(device.program(), blocks * 4), in(device.program(), blocks * 4);
    const std::vector<int> ones(blocks, 1);
    std::vector<MPI_Aint> places;
    for (int k = 0; k < blocks; ++k) places.push_back(k * 7 % blocks);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoallv_init(out.at(), ones.data(), places.data(), MPI_INT, in.at(),
                                    ones.data(), places.data(), MPI_INT, near, quick, &request));
    const int tried = mpi.messages();
    const std::string described = tonari_request_describe(request);
    EXPECT_CONTAINS(described, by_the_mpi ? "packed in 8000 bytes" : "by handles");
    for (int round = 0; round < 3; ++round) {
      for (int k = 0; k < blocks; ++k) out.values<int>()[k] = sent(0, k) + round;
      const Cost cost = cost_of(device, request);
      EXPECT_EQ(cost.launches, 2u);
      EXPECT_LE(cost.flags, 8u) << "for each rank, not for each block";
      for (int k = 0; k < blocks; ++k)
        ASSERT_EQ(in.values<int>()[k], sent(0, k, before()) + round) << "block at " << k;
    }
    EXPECT_EQ(mpi.messages() - tried, by_the_mpi ? 3 : 0);
    EXPECT_OK(tonari_request_free(&request));
  }
}

// All streams share one queue of the device, and the others do not come before this one has
// computed.
TEST_F(Complaints, AStartHoldsUpNoOtherStream) {
  tonari::SimulatedOptions options;
  options.one_queue = true;
  options.patience = 10;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    UsedDevice device(options, seed);
    SimulatedDevice& program = device.program();
    MemoryOnDevice out(program, 64), in(program, 64), interior(program, 64);
    const DeviceStream stream = program.make_stream(0), computes = program.make_stream(0);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), quick, &request));
    for (int round = 0; round < 4; ++round) {
      if (world_rank() > 0) MPI_Barrier(MPI_COMM_WORLD);
      out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
      EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
      const SimulatedDevice::Touched all{reinterpret_cast<std::byte*>(interior.at()), 64};
      program.launch(computes, {}, {&all, 1},
                     [at = interior.values<int>(), round] { *at = round; });
      program.synchronize(computes);
      EXPECT_EQ(*interior.values<int>(), round);
      if (world_rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
      program.synchronize(stream);
      expect_received(in.values<int>(), round);
    }
    EXPECT_OK(tonari_request_free(&request));
    program.end_stream(stream), program.end_stream(computes);
  }
}

// Each rank sends to the rank behind alone, and then all to the first one: who receives from a rank
// need not send to it.
TEST_F(Complaints, OneWayGraphs) {
  for (const bool star : {false, true})
    for (const char* channel : {"device-handles", "p2p-packed"}) {
      const bool first = world_rank() == 0;
      std::vector<int> from{before()};
      const int to = star ? 0 : behind();
      if (star) from.clear();
      for (int rank = 0; star && first && rank < world_size(); ++rank) from.push_back(rank);
      tonari_neighborhood graph = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()),
                                                    from.data(), MPI_UNWEIGHTED, 1, &to,
                                                    MPI_UNWEIGHTED, MPI_INFO_NULL, &graph));
      UsedDevice device;
      MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, graph,
                                     Info{{"tonari_tune", "off"}, {"tonari_channel", channel}},
                                     &request));
      for (int round = 0; round < 5; ++round) {
        *out.values<int>() = sent(round, 0);
        run(request);
        for (std::size_t k = 0; k < from.size(); ++k)
          EXPECT_EQ(in.values<int>()[k], sent(round, 0, from[k])) << channel;
      }
      EXPECT_OK(tonari_request_free(&request));
      EXPECT_OK(tonari_neighborhood_free(&graph));
    }
}

// The MPI reads what producers have written in streams, and consumers read what it has written.
TEST_F(Complaints, AnMpiFollowsLateProducers) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  spread();
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    UsedDevice device({}, seed);
    const MpiTakesDevices mpi(device.program());
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), quick, &request));
    EXPECT_CONTAINS(tonari_request_describe(request), "are given to the MPI");
    {
      Program program(device, request, out, in, seed + static_cast<unsigned>(world_rank()));
      for (int round = 0; round < 10; ++round)
        program.exchange(
            round, [](int r, int i, int rank = world_rank()) { return sent(r, i, rank); }, before(),
            behind());
      program.complete();
      EXPECT_EQ(program.wrong(), 0) << "seed " << seed;
    }
    EXPECT_OK(tonari_request_free(&request));
  }
}

}  // namespace
