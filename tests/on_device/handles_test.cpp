// SPDX-License-Identifier: BSD-3-Clause
// Requests whose blocks go from device to device by handles: what arrives, and where they are
// staged instead, the reason that all ranks are told.
#include "on_device/stream_program.hpp"
#include "support/grid_graph.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

const char* const by_handles = "go from device to device by handles";

bool last() { return world_rank() == world_size() - 1; }
std::string last_rank() {
  return world_size() == 1 ? "" : "rank " + std::to_string(world_size() - 1) + ": ";
}

std::string channel_of(tonari_request request) {
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  return info.channel;
}

MPI_Count bytes_of(tonari_request request) {
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  return info.bytes;
}

// ---- what arrives

class HandlePatterns : public GraphExchange {
 protected:
  void exchange(tonari_neighborhood near, const Graph& graph, Operation op, const Sizes& sizes,
                Random& common) {
    SCOPED_TRACE(std::string(name(op)) + ", " + graph.name);
    const int rank = world_rank();
    const std::uint32_t seed = common();
    UsedDevice device({}, seed);
    Random random(seed + 977u * static_cast<unsigned>(rank));
    DeviceBuffers d(make_buffers(random, graph, rank, op, sizes), device.program(), {});
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(
        init(op, d.b.out, d.b.in, near, Info{{"tonari_channel", "device-handles"}}, &request));
    d.b.out.free_types(), d.b.in.free_types();
    // Where no rank has a byte, none is on a device.
    const bool handles = channel_of(request) == "device-handles";
    EXPECT_TRUE(handles || everywhere(bytes_of(request) == 0));
    ran[handles ? "handles" : "nothing"]++;
    for (int round = 0; round < 4; ++round) {
      d.prepare(rank, round);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(complete(request, (rank + round) % 2));
      EXPECT_EQ(d.wrong(graph, rank, round), "") << "round " << round;
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  void all_operations_on(tonari_neighborhood near, const Graph& graph, Random& common) {
    for (const Operation op : all_operations)
      exchange(near, graph, op, random_sizes(common, op, true), common);
  }
};

TEST_F(HandlePatterns, RandomGraphs) {
  Random common(61);
  for (int k = 0; k < cases(20); ++k) {
    const Graph graph = random_graph(common, world_size());
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                              MPI_INFO_NULL, &near));
    all_operations_on(near, graph, common);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  EXPECT_GT(ran["handles"], 0);
}

TEST_F(HandlePatterns, Grids) {
  Random common(62);
  for (int k = 0; k < cases(8); ++k) {
    Topology t = torus_of_all(1 + k % 2);
    t.offsets = box(t.dimensions(), -1, 1 + k % 2), t.name = "moore";
    MPI_Comm cart = make_cart(t);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(
        tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
    MPI_Comm_free(&cart);
    all_operations_on(near, graph_of(t), common);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  EXPECT_GT(ran["handles"], 0);
}

// A periodic rank that has itself as all its 26 neighbors needs no flags, and no other process.
TEST(HandlesAlone, AllNeighborsAreTheRankItself) {
  tonari::SimulatedOptions options;
  options.lacks = {tonari::Ability::flags_in_order, tonari::Ability::export_memory};
  UsedDevice device(options);
  const int sides[] = {1, 1, 1}, periodic[] = {1, 1, 1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_SELF, 3, sides, periodic, 0, &cart);
  std::vector<int> offsets;
  for (int d = 0; d < 27; ++d)
    if (d != 13) offsets.insert(offsets.end(), {d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1});
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_cart(cart, 26, offsets.data(), MPI_INFO_NULL, &near));
  MPI_Comm_free(&cart);
  {
    MemoryOnDevice out(device.program(), 26 * sizeof(int)), in(device.program(), 26 * sizeof(int));
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near,
                                   Info{{"tonari_channel", "device-handles"}}, &request));
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 26; ++i) out.values<int>()[i] = 100 * round + i;
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      for (int i = 0; i < 26; ++i) EXPECT_EQ(in.values<int>()[i], 100 * round + i);
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// ---- on a ring

class Handles : public DeviceRing {
 protected:
  static Info with(const char* channel) {
    return Info{{"tonari_tune", "off"}, {"tonari_channel", channel}, {"tonari_timeout", "0.05"}};
  }
  void run(tonari_request request, int* out, MemoryOnDevice& in, int round) {
    out[0] = sent(round, 0), out[1] = sent(round, 1);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    expect_received(in.values<int>(), round);
  }
  void run(tonari_request request, MemoryOnDevice& out, MemoryOnDevice& in, int round) {
    run(request, out.values<int>(), in, round);
  }
  // Staged, with this reason on all ranks that stage; forced, it is an error on all ranks.
  void expect_refused(const void* send, int* values, MemoryOnDevice& in, const std::string& why) {
    tonari_request request = TONARI_REQUEST_NULL;
    expect_everywhere(prepare(send, in.at(), with("device-handles"), &request), TONARI_ERR_ARGUMENT,
                      {"'device-handles', which cannot be used: " + why});
    ASSERT_OK(prepare(send, in.at(), with("auto"), &request));
    EXPECT_CONTAINS(tonari_request_describe(request), "are staged through");
    EXPECT_CONTAINS(tonari_request_describe(request), "of pinned host memory, because " + why);
    EXPECT_NE(channel_of(request), "device-handles");
    run(request, values, in, 1);
    EXPECT_OK(tonari_request_free(&request));
  }
  void expect_refused(MemoryOnDevice& out, MemoryOnDevice& in, const std::string& why) {
    expect_refused(out.at(), out.values<int>(), in, why);
  }
};

TEST_F(Handles, AreTakenWhereTheyCanBe) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), MPI_INFO_NULL, &request));
  const std::string described = tonari_request_describe(request);
  EXPECT_CONTAINS(described, "blocks on device 0 go from device to device by handles, through");
  EXPECT_CONTAINS(described, "chosen: linear/device-handles (fixed rule)");
  EXPECT_CONTAINS(described, "since each step would be a launch more");
  EXPECT_EQ(described.find("staged"), std::string::npos);
  for (int round = 0; round < 3; ++round) run(request, out, in, round);
  EXPECT_OK(tonari_request_free(&request));
}

// Several regions side by side, of which there is no handle; as memory of a pool is on a GPU.
class WithoutHandle {
 public:
  explicit WithoutHandle(SimulatedDevice& device) : device_(device) {
    const tonari::Bytes unit = device.granularity(0);
    const std::array regions{device.make_region(0, unit), device.make_region(0, unit)};
    at_ = device.map_regions(regions);
    for (const tonari::DeviceRegion region : regions) device.free_region(region);
  }
  ~WithoutHandle() { device_.free(at_); }
  WithoutHandle(const WithoutHandle&) = delete;
  WithoutHandle& operator=(const WithoutHandle&) = delete;
  std::byte* at() const { return at_; }

 private:
  SimulatedDevice& device_;
  std::byte* at_;
};

// What others map is the library's own.
TEST_F(Handles, AreTakenForMemoryThatHasNone) {
  UsedDevice device;
  WithoutHandle out(device.program()), in(device.program());
  EXPECT_NE(device.program().memory_at(out.at()).not_exported, "");
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
  for (int round = 0; round < 5; ++round) {
    auto* const values = reinterpret_cast<int*>(device.program().on_device(out.at()));
    values[0] = sent(round, 0), values[1] = sent(round, 1);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    expect_received(reinterpret_cast<const int*>(device.program().on_device(in.at())), round);
  }
  EXPECT_OK(tonari_request_free(&request));
}

// No pinned memory is allocated, and the host touches nothing: a start is one launch, and so is a
// wait.
TEST_F(Handles, AStartIsOneLaunch) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
  const std::size_t before = device->launches();
  EXPECT_OK(tonari_start(request));
  EXPECT_EQ(device->launches(), before + 1);
  EXPECT_OK(tonari_wait(request));
  EXPECT_EQ(device->launches(), before + 2);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(Handles, MemoryOfTheHostIsTheReason) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  int here[2] = {};
  const void* const send = last() ? static_cast<const void*>(here) : out.at();
  expect_refused(send, last() ? here : out.values<int>(), in,
                 last_rank() + "its send blocks lie in memory of the host");
}

TEST_F(Handles, AnotherNodeIsTheReason) {
  if (world_size() == 1) GTEST_SKIP() << "there is one node";
  Nodes nodes;
  Nodes::set("1");
  tonari_neighborhood apart = make(MPI_INFO_NULL);
  std::swap(near, apart);
  {
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    expect_refused(out, in, "rank 0: its neighbor 1 is on another node");
  }
  std::swap(near, apart);
  EXPECT_OK(tonari_neighborhood_free(&apart));
}

TEST_F(Handles, ADeviceThatLacksAnAbilityIsTheReason) {
  if (world_size() == 1) GTEST_SKIP() << "a rank needs none for itself";
  tonari::SimulatedOptions options;
  if (last()) options.lacks = {tonari::Ability::flags_in_order};
  UsedDevice device(options);
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  expect_refused(out, in,
                 last_rank() + "streams of this device do not write flags or wait for them");
}

TEST_F(Handles, TwoDevicesOfOneRankAreTheReason) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  UsedDevice device(two);
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64, last() ? 1 : 0);
  expect_refused(
      out, in, last_rank() + "its send blocks lie on device 0, and its receive blocks on device 1");
}

// Each rank has a device of its own.
TEST_F(Handles, DevicesThatDoNotReachEachOtherAreTheReason) {
  tonari::SimulatedOptions two;
  two.devices = 2;
  const int mine = world_rank() % 2;
  for (const bool reach : {true, false}) {
    if (!reach) two.lacks = {tonari::Ability::peer_access};
    UsedDevice device(two);
    MemoryOnDevice out(device.program(), 64, mine), in(device.program(), 64, mine);
    if (!reach && world_size() > 1) {
      expect_refused(out, in, "rank 0: work of device 0 uses memory of device 1");
      continue;
    }
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
    for (int round = 0; round < 3; ++round) run(request, out, in, round);
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(Handles, ANamedAlgorithmOrChannelOfTheHostIsTheReason) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), Info{{"tonari_algorithm", "irecv"}}, &request));
  EXPECT_CONTAINS(tonari_request_describe(request), "because algorithm 'irecv' runs on the host");
  EXPECT_OK(tonari_request_free(&request));
  ASSERT_OK(prepare(out.at(), in.at(), with("shared"), &request));
  EXPECT_CONTAINS(tonari_request_describe(request), "because channel 'shared' is one of the host");
  EXPECT_OK(tonari_request_free(&request));
}

// The name means nothing where no rank has blocks on a device.
TEST_F(Handles, RequestsOfTheHostIgnoreTheName) {
  int out[] = {sent(1, 0), sent(1, 1)}, in[2] = {};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out, in, with("device-handles"), &request));
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  expect_received(in, 1);
  EXPECT_OK(tonari_request_free(&request));
}

// Whatever one rank cannot do, all know what it was, and the request works in another way.
TEST_F(Handles, WhateverFailsAtInit) {
  UsedDevice device;
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  int refusals = 0;
  for (std::size_t call = 1;; ++call) {
    ASSERT_LT(call, 30u);
    tonari_request request = TONARI_REQUEST_NULL;
    device->fail_at(last() ? call : 0);
    const int code = prepare(out.at(), in.at(), with("auto"), &request);
    device->fail_at(0);
    ASSERT_OK(code);
    const bool refused = channel_of(request) != "device-handles";
    EXPECT_TRUE(everywhere(refused) || everywhere(!refused));
    if (refused) {
      EXPECT_CONTAINS(tonari_request_describe(request), "because " + last_rank());
      ++refusals;
    }
    run(request, out, in, static_cast<int>(call));
    EXPECT_OK(tonari_request_free(&request));
    end_exchanges();
    EXPECT_EQ(device->held(), 0u);
    if (!refused) break;
  }
  EXPECT_GE(refusals, world_size() == 1 ? 9 : 10);
}

// Others that wait hear that it will not come, and all can be freed.
TEST_F(Handles, WhateverFailsAtAStart) {
  for (const std::size_t call : {1u, 2u}) {  // its packing, and its unpacking
    UsedDevice device;
    MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
    device->fail_at(last() ? call : 0);
    int code = tonari_start(request);
    if (code == TONARI_SUCCESS) code = tonari_wait(request);
    device->fail_at(0);
    if (last()) {
      EXPECT_EQ(code, TONARI_ERR_ARGUMENT);
      EXPECT_CONTAINS(tonari_last_error(), "a table cannot be launched");
    } else if (call == 1 && (behind() == world_size() - 1 || before() == world_size() - 1)) {
      EXPECT_EQ(code, TONARI_ERR_PEER);
      EXPECT_CONTAINS(tonari_last_error(), "has given up the exchange");
    }
    EXPECT_OK(tonari_request_free(&request));
    end_exchanges();
  }
}

// ---- other buffers, streams, and ends

TEST_F(Handles, StartWithAnyBuffersInTurn) {
  UsedDevice device;
  constexpr std::size_t pairs = 11;  // more than tables are kept
  std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
  for (std::size_t k = 0; k < pairs; ++k) {
    out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
    in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
  }
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out[0]->at(), in[0]->at(), with("device-handles"), &request));
  const DeviceStream stream = device.program().make_stream(0);
  for (int round = 0; round < 40; ++round) {
    const std::size_t k = static_cast<std::size_t>(round * (round % 5 == 0 ? 1 : 7)) % pairs;
    out[k]->values<int>()[0] = sent(round, 0), out[k]->values<int>()[1] = sent(round, 1);
    EXPECT_OK(tonari_start_with(request, out[k]->at(), in[k]->at()));
    if (round % 3) {
      EXPECT_OK(tonari_wait(request));
    } else {
      EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
      device.program().synchronize(stream);
    }
    expect_received(in[k]->values<int>(), round);
  }
  EXPECT_OK(tonari_request_free(&request));
}

// The host returns from a wait before anything has come, and starts the next exchange.
TEST_F(Handles, NothingWaitsForAStream) {
  UsedDevice device;
  tonari::SimulatedDevice& program = device.program();
  MemoryOnDevice out(program, 64), in(program, 64);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
  const DeviceStream stream = program.make_stream(0);
  auto* const gate = reinterpret_cast<std::uint64_t*>(
      program.allocate(tonari::MemoryKind::pinned, 0, sizeof(std::uint64_t)));
  *gate = 0;
  const tonari::FlagValue open{gate, 1};
  program.wait_flags(stream, {&open, 1});
  in.values<int>()[0] = -1;
  for (int k = 0; k < 4; ++k) {
    EXPECT_OK(tonari_start_on(request, Program::as_handle(stream)));
    EXPECT_OK(tonari_wait_on(request, Program::as_handle(stream)));
  }
  EXPECT_EQ(in.values<int>()[0], -1);
  out.values<int>()[0] = sent(3, 0), out.values<int>()[1] = sent(3, 1);
  *gate = 1;
  program.synchronize(stream);
  expect_received(in.values<int>(), 3);
  EXPECT_OK(tonari_request_free(&request));
  program.free(reinterpret_cast<std::byte*>(gate));
}

// Several requests, whose programs wait for nothing but at their end.
TEST_F(Handles, RequestsFollowTheirStreamsAtOnce) {
  for (std::uint32_t seed = 0; seed < static_cast<std::uint32_t>(cases(20)); ++seed) {
    UsedDevice device({}, seed);
    constexpr std::size_t many = 3;
    std::vector<std::unique_ptr<MemoryOnDevice>> out, in;
    std::vector<tonari_request> requests(many, TONARI_REQUEST_NULL);
    std::vector<std::unique_ptr<Program>> programs;
    for (std::size_t k = 0; k < many; ++k) {
      out.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
      in.push_back(std::make_unique<MemoryOnDevice>(device.program(), 64));
      ASSERT_OK(prepare(out[k]->at(), in[k]->at(), with("device-handles"), &requests[k]));
      programs.push_back(std::make_unique<Program>(
          device, requests[k], *out[k], *in[k], seed + static_cast<unsigned>(world_rank()) + 100u));
    }
    for (int round = 0; round < 6; ++round)
      for (auto& program : programs)
        program->exchange(
            round, [](int r, int i, int rank = world_rank()) { return sent(r, i, rank); }, before(),
            behind());
    for (auto& program : programs) program->complete();
    for (auto& program : programs) EXPECT_EQ(program->wrong(), 0) << "seed " << seed;
    programs.clear();
    std::rotate(requests.begin(), requests.begin() + world_rank() % 3, requests.end());
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  }
}

// One rank frees everything first, another the neighborhood before its requests.
TEST_F(Handles, AreFreedInAnyOrder) {
  UsedDevice device;
  tonari_neighborhood other = make(MPI_INFO_NULL);
  std::swap(near, other);
  MemoryOnDevice out(device.program(), 64), in(device.program(), 64);
  std::vector<tonari_request> requests(4, TONARI_REQUEST_NULL);
  for (tonari_request& request : requests) {
    ASSERT_OK(prepare(out.at(), in.at(), with("device-handles"), &request));
    run(request, out, in, 2);
  }
  std::swap(near, other);
  if (world_rank() % 2) std::swap(requests[0], requests[3]);
  EXPECT_OK(tonari_request_free(&requests[0]));
  EXPECT_OK(tonari_neighborhood_free(&other));
  run(requests[1], out, in, 3);
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
