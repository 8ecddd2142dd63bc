// SPDX-License-Identifier: BSD-3-Clause
// Requests by handles whose blocks are combined on the way: every planner, in a launch per step of
// its plan, and why some are staged instead.
#include <chrono>
#include <thread>

#include "on_device/stream_program.hpp"
#include "planners/registry.hpp"
#include "support/grid_graph.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;

const char* const no_blocks = "it passes on blocks, and has none on a device itself";

bool is_last() { return world_rank() == world_size() - 1; }

tonari_request_info info_of(tonari_request request) {
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  return info;
}
bool goes_by_handles(tonari_request request) {
  return std::string(info_of(request).channel) == "device-handles";
}

tonari_neighborhood neighborhood_of(const Topology& t) {
  MPI_Comm cart = make_cart(t);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(
      tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
  MPI_Comm_free(&cart);
  return near;
}

// ---- what arrives, by every planner

class DevicePlans : public GraphExchange {
 protected:
  // All blocks lie on devices, so only a rank without blocks is a reason to stage.
  void exchange(tonari_neighborhood near, const Graph& graph, Operation op, const Sizes& sizes,
                const std::string& algorithm, Random& common) {
    SCOPED_TRACE(std::string(name(op)) + ", " + graph.name + ", " + algorithm);
    const int rank = world_rank();
    const std::uint32_t seed = common();
    UsedDevice device({}, seed);
    Random random(seed + 977u * static_cast<unsigned>(rank));
    DeviceBuffers d(make_buffers(random, graph, rank, op, sizes), device.program(), {});
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(op, d.b.out, d.b.in, near,
                          Info{{"tonari_algorithm", algorithm}, {"tonari_tune", "off"}}, &request);
    d.b.out.free_types(), d.b.in.free_types();
    if (code == TONARI_ERR_ALGORITHM) return;
    ASSERT_OK(code);
    const tonari_request_info info = info_of(request);
    const std::string described = tonari_request_describe(request);
    EXPECT_EQ(info.algorithm, algorithm);
    const bool handles = goes_by_handles(request);
    if (!handles && described.find("staged") != std::string::npos) {
      EXPECT_CONTAINS(described, no_blocks);
    }
    if (handles) ++ran[algorithm];
    if (handles && info.rounds > 1) ++ran["steps"];
    for (int round = 0; round < 4; ++round) {
      d.prepare(rank, round);
      const std::size_t before = device->launches();
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(complete(request, (rank + round) % 2));
      if (handles) {
        EXPECT_LE(device->launches() - before, static_cast<std::size_t>(info.rounds) + 1);
      }
      EXPECT_EQ(d.wrong(graph, rank, round), "") << "round " << round << "\n" << described;
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  void all_operations_on(tonari_neighborhood near, const Graph& graph, const std::string& algorithm,
                         Random& common) {
    for (const Operation op : all_operations)
      exchange(near, graph, op, random_sizes(common, op, true), algorithm, common);
  }
};

TEST_F(DevicePlans, EveryPlannerForOffsets) {
  Random common(81);
  for (const tonari::AlgorithmRow& row : tonari::algorithms())
    for (int k = 0; row.offsets && k < 4; ++k) {
      Topology t = torus_of_all(1 + k % 2);
      t.offsets = box(t.dimensions(), -2, 2), t.name = "moore";
      for (int& periodic : t.periods) periodic = k >= 2;
      tonari_neighborhood near = neighborhood_of(t);
      all_operations_on(near, graph_of(t), row.name, common);
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
  for (const char* algorithm : {"linear", "torus", "torus-direct", "additive-basis", "joint-basis"})
    EXPECT_GT(ran[algorithm], 0) << algorithm;
  if (world_size() >= 3) {
    EXPECT_GT(ran["steps"], 0);
  }
}

TEST_F(DevicePlans, EveryPlannerForGraphs) {
  Random common(82);
  for (const tonari::AlgorithmRow& row : tonari::algorithms())
    for (int k = 0; row.graphs && k < cases(6); ++k) {
      const Graph graph = random_graph(common, world_size());
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                                MPI_INFO_NULL, &near));
      all_operations_on(near, graph, row.name, common);
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
  EXPECT_GT(ran["linear"], 0);
  if (world_size() >= 4) {
    EXPECT_GT(ran["steps"], 0);
  }
}

// 26 blocks, and a launch per dimension that has several ranks.
TEST_F(DevicePlans, LaunchesAreStepsNotBlocks) {
  Topology t = torus_of_all(3);
  t.offsets = box(3, -1, 1), t.name = "moore";
  tonari_neighborhood near = neighborhood_of(t);
  UsedDevice device;
  {
    MemoryOnDevice out(device.program(), 27 * 4), in(device.program(), 27 * 4);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(
        out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near,
        Info{{"tonari_algorithm", "torus-direct"}, {"tonari_channel", "device-handles"}},
        &request));
    const auto apart = std::ranges::count_if(t.dims, [](int side) { return side > 1; });
    const int steps = std::max(1, static_cast<int>(apart));
    EXPECT_EQ(info_of(request).rounds, steps);
    const std::string described = tonari_request_describe(request);
    EXPECT_CONTAINS(described, "chosen: torus-direct/device-handles (forced)");
    const std::string in_steps =
        "combined on the way, in " + std::to_string(steps) + " steps of one launch each";
    EXPECT_EQ(described.find(in_steps) != std::string::npos, steps > 1) << described;
    for (int round = 0; round < 3; ++round) {
      const std::size_t before = device->launches();
      EXPECT_OK(tonari_start(request));
      EXPECT_EQ(device->launches(), before + 1);
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(device->launches(), before + static_cast<std::size_t>(steps) + 1);
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// ---- in the order of streams: a ring with blocks for the next rank, and for the next but one by
// way of it

class RelayRing : public DeviceRing {
 protected:
  void SetUp() override { near = neighborhood_of(ring()); }

  static Topology ring() {
    Topology t = torus_of_all(1);
    t.offsets = {1, 2};
    return t;
  }
  // Of fewer ranks, the next but one is a neighbor, too.
  static int steps() { return world_size() >= 4 ? 2 : 1; }
  static int before_last() { return (world_rank() + 2 * world_size() - 2) % world_size(); }
  static Info by_torus(const char* channel = "device-handles") {
    return Info{{"tonari_algorithm", "torus"},
                {"tonari_tune", "off"},
                {"tonari_channel", channel},
                {"tonari_timeout", "0.05"}};
  }
  static void expect_relayed(const int* in, int round) {
    EXPECT_EQ(in[0], sent(round, 0, before())) << "round " << round;
    EXPECT_EQ(in[1], sent(round, 1, before_last())) << "round " << round;
  }
  static void put(MemoryOnDevice& out, int round) {
    out.values<int>()[0] = sent(round, 0), out.values<int>()[1] = sent(round, 1);
  }
  void run(tonari_request request, MemoryOnDevice& out, MemoryOnDevice& in, int round) {
    put(out, round);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    expect_relayed(in.values<int>(), round);
  }
  static constexpr auto value = [](int round, int i, int rank = world_rank()) {
    return sent(round, i, rank);
  };
};

TEST_F(RelayRing, TakesALaunchPerStepAndOneMore) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), by_torus(), &request));
  EXPECT_EQ(info_of(request).rounds, steps());
  for (int round = 0; round < 5; ++round) {
    const std::size_t before = device->launches();
    run(request, out, in, round);
    EXPECT_EQ(device->launches() - before, static_cast<std::size_t>(steps()) + 1);
  }
  EXPECT_OK(tonari_request_free(&request));
}

// Late producers, several requests, and no wait of the host but at the end.
TEST_F(RelayRing, RequestsFollowTheirStreamsAtOnce) {
  for (std::uint32_t seed = 0; seed < static_cast<std::uint32_t>(cases(40)); ++seed) {
    UsedDevice device({}, seed);
    constexpr std::size_t many = 3;
    std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
    std::vector<tonari_request> requests(many, TONARI_REQUEST_NULL);
    std::vector<std::unique_ptr<Program>> programs;
    for (std::size_t k = 0; k < many; ++k) {
      out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
      in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
      ASSERT_OK(prepare(out[k]->at(), in[k]->at(), by_torus(), &requests[k]));
      programs.push_back(std::make_unique<Program>(
          device, requests[k], *out[k], *in[k], seed + static_cast<unsigned>(world_rank()) + 100u));
    }
    for (int round = 0; round < 6; ++round)
      for (auto& program : programs) program->exchange(round, value, before(), before_last());
    for (auto& program : programs) program->complete();
    for (auto& program : programs) EXPECT_EQ(program->wrong(), 0) << "seed " << seed;
    programs.clear();
    std::rotate(requests.begin(), requests.begin() + world_rank() % 3, requests.end());
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  }
}

// Each rank waits in another order, in one stream or on the host: what is passed on waits for
// nothing that comes later there.
TEST_F(RelayRing, RanksWaitInAnyOrder) {
  UsedDevice device;
  constexpr std::size_t many = 4;
  std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
  std::vector<tonari_request> requests(many, TONARI_REQUEST_NULL);
  for (std::size_t k = 0; k < many; ++k) {
    out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    ASSERT_OK(prepare(out[k]->at(), in[k]->at(), by_torus(), &requests[k]));
  }
  const DeviceStream stream = device.program().make_stream(0);
  for (int round = 0; round < 8; ++round) {
    for (std::size_t k = 0; k < many; ++k) {
      put(*out[k], round + static_cast<int>(k));
      EXPECT_OK(tonari_start(requests[k]));
    }
    for (std::size_t k = 0; k < many; ++k) {
      const std::size_t which =
          world_rank() % 2 ? many - 1 - k : (k + static_cast<std::size_t>(world_rank())) % many;
      EXPECT_OK(round % 2 ? tonari_wait_on(requests[which], Program::as_handle(stream))
                          : tonari_wait(requests[which]));
    }
    device.program().synchronize(stream);
    for (std::size_t k = 0; k < many; ++k)
      expect_relayed(in[k]->values<int>(), round + static_cast<int>(k));
  }
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
}

// Without a test or a wait of this thread, all is passed on in the end. Or its wait comes first.
TEST_F(RelayRing, AThreadPassesOn) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(),
                    Info{{"tonari_algorithm", "torus"},
                         {"tonari_channel", "device-handles"},  // with a thread, ways race
                         {"tonari_progress", "thread"}},
                    &request));
  EXPECT_TRUE(goes_by_handles(request)) << tonari_request_describe(request);
  const DeviceStream stream = device.program().make_stream(0);
  for (int round = 0; round < 12; ++round) {
    put(out, round);
    EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
    const volatile int* const arrived = in.values<int>();
    for (int k = 0; steps() == 2 && round % 2 && k < 2000; ++k) {
      if (arrived[1] == sent(round, 1, before_last())) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (steps() == 2 && round % 2) {
      EXPECT_EQ(arrived[1], sent(round, 1, before_last()));
    }
    EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
    device.program().synchronize(stream);
    expect_relayed(in.values<int>(), round);
  }
  device.program().end_stream(stream);
  EXPECT_OK(tonari_request_free(&request));
}

// The host goes on before anything has come, and puts more exchanges into the streams.
TEST_F(RelayRing, NothingWaitsForAStream) {
  UsedDevice device;
  tonari::SimulatedDevice& program = device.program();
  MemoryOnDevice out(program, 64), in(program, 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), by_torus(), &request));
  const DeviceStream stream = program.make_stream(0);
  auto* const gate = reinterpret_cast<std::uint64_t*>(
      program.allocate(tonari::MemoryKind::pinned, 0, sizeof(std::uint64_t)));
  *gate = 0;
  const tonari::FlagValue open{gate, 1};
  program.wait_flags(stream, {&open, 1});
  in.values<int>()[0] = -1;
  for (int k = 0; k < 6; ++k) {
    EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
    EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
  }
  EXPECT_EQ(in.values<int>()[0], -1);
  put(out, 3);
  *gate = 1;
  program.synchronize(stream);
  expect_relayed(in.values<int>(), 3);
  EXPECT_OK(tonari_request_free(&request));
  program.free(reinterpret_cast<std::byte*>(gate));
}

TEST_F(RelayRing, StartWithAnyBuffersInTurn) {
  UsedDevice device;
  constexpr std::size_t pairs = 11;  // more than tables are kept
  std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
  for (std::size_t k = 0; k < pairs; ++k) {
    out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
  }
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out[0]->at(), in[0]->at(), by_torus(), &request));
  for (int round = 0; round < 40; ++round) {
    const std::size_t k = static_cast<std::size_t>(round * (round % 5 == 0 ? 1 : 7)) % pairs;
    put(*out[k], round);
    EXPECT_OK(tonari_start_with(request, out[k]->at(), in[k]->at()));
    EXPECT_OK(tonari_wait(request));
    expect_relayed(in[k]->values<int>(), round);
  }
  EXPECT_OK(tonari_request_free(&request));
}

// ---- where it cannot be, and what fails

class PlansRefused : public RelayRing {};

TEST_F(PlansRefused, ARankWithoutBlocksIsTheReason) {
  if (world_size() < 4) GTEST_SKIP() << "nobody passes on what it has no part in";
  // from the first rank to the last one, by way of others
  const int first = 0, end = world_size() - 1;
  const int out_degree = world_rank() == first, in_degree = world_rank() == end;
  tonari_neighborhood far = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, in_degree, &first, MPI_UNWEIGHTED,
                                                out_degree, &end, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                &far));
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  const auto init = [&](const char* channel, tonari_request* request) {
    return tonari_alltoall_init(
        out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, far,
        Info{{"tonari_algorithm", "store-and-forward"}, {"tonari_channel", channel}}, request);
  };
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(init("device-handles", &request), TONARI_ERR_ARGUMENT,
                    {"'device-handles', which cannot be used: ", no_blocks});
  ASSERT_OK(init("auto", &request));
  if (out_degree + in_degree > 0) {
    EXPECT_CONTAINS(tonari_request_describe(request), no_blocks);
  }
  *out.values<int>() = 17, *in.values<int>() = 0;
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  if (in_degree) {
    EXPECT_EQ(*in.values<int>(), 17);
  }
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&far));
}

TEST_F(PlansRefused, WhateverFailsAtInit) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  int refusals = 0;
  for (std::size_t call = 1;; ++call) {
    ASSERT_LT(call, 30u);
    tonari_request request = TONARI_REQUEST_NULL;
    device->fail_at(is_last() ? call : 0);
    const int code = prepare(out.at(), in.at(), by_torus("auto"), &request);
    device->fail_at(0);
    ASSERT_OK(code);
    const bool refused = !goes_by_handles(request);
    EXPECT_TRUE(everywhere(refused) || everywhere(!refused));
    if (refused) {
      EXPECT_CONTAINS(tonari_request_describe(request), "staged");
    }
    refusals += refused;
    run(request, out, in, static_cast<int>(call));
    EXPECT_OK(tonari_request_free(&request));
    end_exchanges();
    EXPECT_EQ(device->held(), 0u);
    if (!refused) break;
  }
  // one more event and two more tables than without steps
  EXPECT_GE(refusals, steps() == 2 ? 12 : 9);
}

// Whatever launch of one rank fails: those that wait for what it would pass on hear of it.
TEST_F(PlansRefused, WhateverFailsAtAStart) {
  const std::size_t calls = static_cast<std::size_t>(steps()) + 1;
  for (std::size_t call = 1; call <= calls; ++call) {  // it packs, passes on, and unpacks
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), by_torus(), &request));
    device->fail_at(is_last() ? call : 0);
    int code = tonari_start(request);
    EXPECT_EQ(code != TONARI_SUCCESS, is_last() && call == 1);
    if (code == TONARI_SUCCESS) code = tonari_wait(request);
    device->fail_at(0);
    const bool waits = world_size() > 1 && before() == world_size() - 1;
    if (is_last()) {
      EXPECT_EQ(code, TONARI_ERR_ARGUMENT);
      EXPECT_CONTAINS(tonari_last_error(), "a table cannot be launched");
    } else if (call < calls && waits) {
      EXPECT_EQ(code, TONARI_ERR_PEER);
      EXPECT_CONTAINS(tonari_last_error(), "has given up the exchange");
    }
    EXPECT_OK(tonari_request_free(&request));
    end_exchanges();
  }
}

}  // namespace
