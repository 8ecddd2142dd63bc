// SPDX-License-Identifier: BSD-3-Clause
// Requests of the six operations with blocks in memory of a device: every planner and channel,
// ranks with such memory and without.
#include "on_device/device_ring.hpp"
#include "planners/registry.hpp"
#include "support/grid_graph.hpp"

namespace {

using namespace tonari::test;

class DeviceRequests : public GraphExchange {
 protected:
  // Each rank draws for itself where its sides are; at least one is on the device somewhere.
  static OnDevice places(std::uint32_t seed) {
    Random own(seed + 31u * static_cast<unsigned>(world_rank()));
    return {own() % 4 != 0, own() % 4 != 0};
  }

  // Whether it ran. common: the same on all ranks.
  bool exchange(tonari_neighborhood near, const Graph& graph, Operation op, const Sizes& sizes,
                const Way& way, Random& common) {
    SCOPED_TRACE(std::string(name(op)) + ", " + graph.name + ", " + way.algorithm + ' ' +
                 way.channel + ' ' + way.tune + ", blocks of " + std::to_string(sizes.quantum) +
                 " * " + std::to_string(sizes.most));
    const int rank = world_rank();
    const std::uint32_t seed = common();
    UsedDevice device({}, seed);
    Random random(seed + 977u * static_cast<unsigned>(rank));
    DeviceBuffers d(make_buffers(random, graph, rank, op, sizes), device.program(), places(seed));
    const Info info{{"tonari_algorithm", way.algorithm},
                    {"tonari_channel", way.channel},
                    {"tonari_tune", way.tune}};
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(op, d.b.out, d.b.in, near, info, &request);
    d.b.out.free_types(), d.b.in.free_types();
    if (code == TONARI_ERR_ALGORITHM) return false;
    EXPECT_OK(code);
    if (code != TONARI_SUCCESS) return false;  // the same on all ranks
    const int rounds = way.tune == "online" ? 30 : 3;
    for (int round = 0; round < rounds; ++round) {
      d.prepare(rank, round);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(complete(request, (rank + round) % 2));
      EXPECT_EQ(d.wrong(graph, rank, round), "") << "round " << round << "\n"
                                                 << tonari_request_describe(request);
    }
    EXPECT_OK(tonari_request_free(&request));
    ++ran[way.algorithm];
    return true;
  }

  void on_graphs(const std::string& algorithm, const std::string& tune, std::uint32_t seed) {
    Random common(seed);
    for (int k = 0; k < cases(8); ++k) {
      Nodes::set(splits[common() % std::size(splits)].text);
      const Graph graph = random_graph(common, world_size());
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                                MPI_INFO_NULL, &near));
      any(near, graph, algorithm, tune, common);
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
  }
  void on_grids(const std::string& algorithm, const std::string& tune, std::uint32_t seed) {
    Random common(seed);
    for (int k = 0; k < cases(8); ++k) {
      Topology t = torus_of_all(1 + k % 2);
      t.offsets = box(t.dimensions(), -1, 1 + k % 2), t.name = "moore";
      MPI_Comm cart = make_cart(t);
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(
          tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
      MPI_Comm_free(&cart);
      any(near, graph_of(t), algorithm, tune, common);
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
  }

 private:
  void any(tonari_neighborhood near, const Graph& graph, const std::string& algorithm,
           const std::string& tune, Random& common) {
    for (const Operation op : all_operations) {
      const Sizes sizes = random_sizes(common, op, true);
      const std::string channel = random_channel(common);
      const bool free_channel = algorithm == "native" || algorithm == "auto";
      exchange(near, graph, op, sizes, {algorithm, free_channel ? "auto" : channel, tune}, common);
    }
  }
};

TEST_F(DeviceRequests, ByEveryPlannerForOffsets) {
  for (const tonari::AlgorithmRow& row : tonari::algorithms())
    if (row.offsets) on_grids(row.name, "off", 51);
  on_grids("native", "off", 52), on_grids("irecv", "off", 53);
  for (const char* algorithm : {"linear", "torus", "torus-direct", "irecv", "native"})
    EXPECT_GT(ran[algorithm], 0) << algorithm;
}

TEST_F(DeviceRequests, ByEveryPlannerForGraphs) {
  for (const tonari::AlgorithmRow& row : tonari::algorithms())
    if (row.graphs) on_graphs(row.name, "off", 54);
  on_graphs("native", "off", 55), on_graphs("irecv", "off", 56);
  for (const char* algorithm : {"linear", "irecv"}) EXPECT_GT(ran[algorithm], 0) << algorithm;
}

TEST_F(DeviceRequests, WhereStartsChoose) {
  on_grids("auto", "online", 57);
  on_graphs("auto", "online", 58);
  EXPECT_GT(ran["auto"], 0);
}

TEST_F(DeviceRing, AStartIsOneLaunchOnEachSide) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  // every other number, so that nothing is contiguous
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  ASSERT_OK(tonari_alltoall_init(out.at(), 1, spread, in.at(), 1, spread, near,
                                 Info{{"tonari_tune", "off"}}, &request));
  MPI_Type_free(&spread);
  const std::size_t before = device->launches();
  EXPECT_OK(tonari_start(request));
  EXPECT_EQ(device->launches(), before + 1);
  EXPECT_OK(tonari_wait(request));
  EXPECT_EQ(device->launches(), before + 2);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(DeviceRing, SaysHowAndWhy) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  int here[4];
  const auto described = [&](const void* send, void* recv) {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(prepare(send, recv, Info{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}},
                      &request));
    const std::string all = tonari_request_describe(request);
    EXPECT_OK(tonari_request_free(&request));
    return all;
  };
  EXPECT_CONTAINS(described(out.at(), in.at()),
                  "send blocks on device 0 and receive blocks on device 0 are staged through 16 "
                  "bytes of pinned host memory, because channel 'p2p-packed' is one of the host");
  EXPECT_CONTAINS(described(here, in.at()),
                  "receive blocks on device 0 are staged through 8 bytes");
  EXPECT_EQ(described(here, here + 2).find("staged"), std::string::npos);
}

TEST_F(DeviceRing, CountsPinnedMemory) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  int there[2] = {}, here[2] = {};
  const auto held = [&](const void* send, void* recv) {
    tonari_request request = TONARI_REQUEST_NULL;
    tonari_request_info info;
    EXPECT_OK(prepare(send, recv, Info{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}},
                      &request));
    EXPECT_OK(tonari_request_get_info(request, &info));
    EXPECT_OK(tonari_request_free(&request));
    return info.scratch_bytes;
  };
  EXPECT_EQ(held(out.at(), in.at()), held(there, here) + 16);
}

// Several in flight, completed in another order than they were started.
TEST_F(DeviceRing, SeveralInFlight) {
  UsedDevice device;
  constexpr std::size_t many = 6;
  std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
  std::vector<tonari_request> requests(many, TONARI_REQUEST_NULL);
  for (std::size_t k = 0; k < many; ++k) {
    out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    ASSERT_OK(prepare(out[k]->at(), in[k]->at(), Info{{"tonari_tune", "off"}}, &requests[k]));
  }
  const int ranks = world_size(), rank = world_rank();
  for (int round = 0; round < 5; ++round) {
    for (std::size_t k = 0; k < many; ++k)
      for (int i = 0; i < 2; ++i)
        out[k]->values<int>()[i] = 1000 * rank + 100 * round + 10 * static_cast<int>(k) + i;
    for (const tonari_request request : requests) EXPECT_OK(tonari_start(request));
    for (std::size_t k = many; k-- > 0;) EXPECT_OK(tonari_wait(requests[k]));
    for (std::size_t k = 0; k < many; ++k) {
      const int common = 100 * round + 10 * static_cast<int>(k);
      // of two ranks, both blocks come from the same one, in its order
      const int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
      EXPECT_EQ(in[k]->values<int>()[0], 1000 * before + common);
      EXPECT_EQ(in[k]->values<int>()[1], 1000 * behind + common + 1);
    }
  }
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
}

TEST_F(DeviceRing, ByAThread) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_progress", "thread"}, {"tonari_tune", "off"}},
                    &request));
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 2; ++i) out.values<int>()[i] = 100 * world_rank() + 10 * round + i;
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    const int before = (world_rank() + world_size() - 1) % world_size();
    EXPECT_EQ(in.values<int>()[0], 100 * before + 10 * round);
  }
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
