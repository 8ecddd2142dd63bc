// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls with blocks in memory of a device: the first ones, those by streams, those that
// combine, and those for which something is forced or promised.
#include <tonari/group.h>

#include "on_device/device_ring.hpp"
#include "support/connect_after.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class DeviceOneShots : public DeviceRing {
 protected:
  // Any operation on this neighborhood, whose graph is given, by blocking and other calls.
  static void call_all(tonari_neighborhood near, const Graph& graph, std::uint32_t seed) {
    Random common(seed);
    UsedDevice device({}, seed);
    {
      const Neighborhood owner{near};
      for (int k = 0; k < cases(16); ++k) {
        const Operation op = all_operations[common() % 6];
        const Sizes sizes = random_sizes(common, op, true);
        Random own(common() + 977u * static_cast<unsigned>(world_rank()));
        const OnDevice on{own() % 4 != 0, own() % 4 != 0};
        DeviceBuffers d(make_buffers(own, graph, world_rank(), op, sizes), device.program(), on);
        const bool blocks = common() % 2 == 0;
        for (int round = 0; round < 3; ++round) {
          d.prepare(world_rank(), round);
          EXPECT_OK(call(op, d.b, near, blocks));
          EXPECT_EQ(d.wrong(graph, world_rank(), round), "") << name(op) << ", round " << round;
        }
      }
    }
  }
  static int call(Operation op, Buffers& b, tonari_neighborhood near, bool blocks) {
    return of_operation(op, b.out, b.in, [&](auto run, auto start, auto, auto... arguments) {
      if (blocks) return run(arguments..., near);
      tonari_request request = TONARI_REQUEST_NULL;
      if (const int code = start(arguments..., near, &request)) return code;
      if (const int code = complete(request, world_rank() % 2)) return code;
      return tonari_request_free(&request);
    });
  }
  struct Neighborhood {
    tonari_neighborhood near;
    ~Neighborhood() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  };
  static void on_random_graphs(MPI_Info info, std::uint32_t seed) {
    Random common(seed);
    for (int k = 0; k < cases(5); ++k) {
      const Graph graph = random_graph(common, world_size());
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                                info, &near));
      call_all(near, graph, seed + static_cast<unsigned>(k));
    }
  }
};

TEST_F(DeviceOneShots, ByStreams) { on_random_graphs(MPI_INFO_NULL, 71); }

TEST_F(DeviceOneShots, ByPlainMessagesAtFirst) {
  const ConnectAfter later("3");
  on_random_graphs(MPI_INFO_NULL, 72);
}

TEST_F(DeviceOneShots, WhereSomethingIsForced) {
  on_random_graphs(Info{{"tonari_algorithm", "linear"}}, 73);
}

// Requests in flight together have pinned memory of their own.
TEST_F(DeviceOneShots, TheSameCallSeveralTimesInFlight) {
  UsedDevice device;
  const Neighborhood other{make(MPI_INFO_NULL)};
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  for (int round = 0; round < 3; ++round) {
    std::array<tonari_request, 3> requests{};
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 2; ++i) out.values<int>()[2 * k + i] = sent(3 * round + k, i);
      EXPECT_OK(tonari_ialltoall(out.at() + 8 * k, 1, MPI_INT, in.at() + 8 * k, 1, MPI_INT,
                                 other.near, &requests[static_cast<std::size_t>(k)]));
    }
    EXPECT_OK(tonari_waitall(3, requests.data()));
    for (int k = 0; k < 3; ++k) expect_received(in.values<int>() + 2 * k, 3 * round + k);
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(DeviceOneShots, WithPromisedBuffers) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const Neighborhood promised{make(Info{{"cdag_static_buffers", "true"}})};
  for (int round = 0; round < 4; ++round) {
    out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
    EXPECT_OK(tonari_alltoall(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, promised.near));
    expect_received(in.values<int>(), round);
  }
}

// The rank itself and its neighbors hear of it, and the next call works.
TEST_F(DeviceOneShots, ErrorsAreToldToNeighbors) {
  UsedDevice device;
  const Neighborhood other{make(MPI_INFO_NULL)};
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const int last = world_size() - 1;
  const bool near_last = world_rank() == last || behind() == last || before() == last;
  for (int round = 0; round < 4; ++round) {
    out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
    const bool wrong = round % 2 == 1 && world_rank() == last;
    const int code = tonari_alltoall(wrong ? out.at() + 58 : out.at(), 1, MPI_INT, in.at(), 1,
                                     MPI_INT, other.near);
    EXPECT_EQ(code, round % 2 == 1 && near_last ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
    if (code == TONARI_SUCCESS) expect_received(in.values<int>(), round);
  }
}

TEST_F(DeviceOneShots, GroupsRefuseIt) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64);
  int here[4] = {};
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
  const bool last = world_rank() == world_size() - 1;
  EXPECT_OK(
      prepare(last ? static_cast<const void*>(out.at()) : here, here + 2, MPI_INFO_NULL, nullptr));
  expect_everywhere(tonari_group_end(MPI_INFO_NULL, &request), TONARI_ERR_ARGUMENT,
                    {"`sendbuf` is memory of a GPU, which the host cannot read"});
}

}  // namespace
