// SPDX-License-Identifier: BSD-3-Clause
// Requests and one-shot calls with blocks on a device of any kind, in the order of the host and in
// that of streams.
#include <dlfcn.h>

#include "on_gpu/devices.hpp"
#include "support/grid_graph.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::MemoryKind;

class OnGpu : public OnDeviceOfAnyKind {
 protected:
  static tonari_neighborhood ring() {
    const int to[] = {behind(), before()}, from[] = {before(), behind()};
    tonari_neighborhood made = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &made));
    return made;
  }
  static int behind() { return (world_rank() + 1) % world_size(); }
  static int before() { return (world_rank() + world_size() - 1) % world_size(); }

  // Two blocks of `count` numbers, what a rank sends in a round.
  static std::vector<int> sent(int rank, int round, std::size_t count) {
    std::vector<int> all(2 * count);
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] = 1'000'003 * rank + 10'007 * round + static_cast<int>(k);
    return all;
  }
  // What comes: the first block of the rank before, and the second one of the rank behind.
  static std::vector<int> expected(int round, std::size_t count) {
    std::vector<int> all = sent(before(), round, count), second = sent(behind(), round, count);
    std::copy(second.begin() + static_cast<std::ptrdiff_t>(count), second.end(),
              all.begin() + static_cast<std::ptrdiff_t>(count));
    return all;
  }
  static Content content(const std::vector<int>& values) {
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(int)};
  }
  static void* handle(DeviceStream stream) { return reinterpret_cast<void*>(stream.value); }
};

// Which sides lie on the device, each rank draws for itself.
TEST_F(OnGpu, TheSixOperations) {
  Random common(71);
  for (int k = 0; k < 6; ++k) {
    const Graph graph = random_graph(common, world_size());
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                              MPI_INFO_NULL, &near));
    for (const Operation op : all_operations) {
      const Sizes sizes = random_sizes(common, op, true);
      SCOPED_TRACE(std::string(name(op)) + ", " + graph.name);
      Random own(common() + 977u * static_cast<unsigned>(world_rank()));
      Buffers b = make_buffers(own, graph, world_rank(), op, sizes);
      std::optional<SideOnDevice> out, in;
      if (own() % 4) out.emplace(on(), b.out);
      if (own() % 4) in.emplace(on(), b.in);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(init(op, b.out, b.in, near, MPI_INFO_NULL, &request));
      b.out.free_types(), b.in.free_types();
      for (int round = 0; round < 12; ++round) {
        b.prepare(world_rank(), round);
        if (out) out->put();
        if (in) in->put();
        EXPECT_OK(tonari_start(request));
        EXPECT_OK(complete(request, (world_rank() + round) % 2));
        if (out) out->get();
        if (in) in->get();
        EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << tonari_request_describe(request);
      }
      EXPECT_OK(tonari_request_free(&request));
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// The host waits for nothing but the exchange; every other producer is held back until its start
// has returned. Blocks are short, and longer than caches.
TEST_F(OnGpu, ExchangesFollowStreams) {
  constexpr int rounds = 10;
  tonari_neighborhood near = ring();
  for (const std::size_t count : {std::size_t{3}, std::size_t{1} << 12, std::size_t{1} << 18}) {
    const std::size_t bytes = 2 * count * sizeof(int);
    std::byte *const out = on().allocate(bytes), *const in = on().allocate(bytes);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(out, static_cast<int>(count), MPI_INT, in,
                                   static_cast<int>(count), MPI_INT, near, MPI_INFO_NULL,
                                   &request));
    const DeviceStream first = on().first, second = on().second;
    std::vector<std::byte*> sources, results;
    for (int round = 0; round < rounds; ++round) {
      sources.push_back(on().source(content(sent(world_rank(), round, count))));
      results.push_back(on().pinned(bytes));
    }
    for (int round = 0; round < rounds; ++round) {
      const bool late = (round + world_rank()) % 2;
      on().device.record(second, on().event);
      on().device.wait_event(first, on().event);
      if (late) on().hold_back(first);
      on().device.copy(first, out, sources[static_cast<std::size_t>(round)], bytes);
      EXPECT_OK(tonari_start_on(request, handle(first)));
      if (late) on().open();
      EXPECT_OK(tonari_wait_on(request, handle(second)));
      on().device.copy(second, results[static_cast<std::size_t>(round)], in, bytes);
    }
    on().device.synchronize(second);
    for (int round = 0; round < rounds; ++round) {
      const std::byte* const got = results[static_cast<std::size_t>(round)];
      EXPECT_EQ(Content(got, got + bytes), content(expected(round, count)))
          << "round " << round << ", " << count << " numbers\n"
          << tonari_request_describe(request);
    }
    EXPECT_OK(tonari_request_free(&request));
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(OnGpu, OneShotCallsAndOtherBuffers) {
  constexpr std::size_t count = 100, bytes = 2 * count * sizeof(int);
  tonari_neighborhood near = ring();
  std::byte *out[2], *in[2];
  for (int k : {0, 1}) out[k] = on().allocate(bytes), in[k] = on().allocate(bytes);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_init(out[0], count, MPI_INT, in[0], count, MPI_INT, near, MPI_INFO_NULL,
                                 &request));
  for (int round = 0; round < 20; ++round) {
    const int from = round % 2, to = round / 2 % 2;
    on().write(out[from], content(sent(world_rank(), round, count)));
    switch (round % 3) {
      case 0:
        EXPECT_OK(tonari_start_with(request, out[from], in[to]));
        EXPECT_OK(tonari_wait(request));
        break;
      case 1:
        EXPECT_OK(tonari_alltoall(out[from], count, MPI_INT, in[to], count, MPI_INT, near));
        break;
      default: {
        tonari_request call = TONARI_REQUEST_NULL;
        EXPECT_OK(tonari_ialltoall(out[from], count, MPI_INT, in[to], count, MPI_INT, near, &call));
        EXPECT_OK(tonari_wait(call));
        EXPECT_OK(tonari_request_free(&call));
      }
    }
    EXPECT_EQ(on().read(in[to], bytes), content(expected(round, count))) << "round " << round;
  }
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(OnGpu, SeveralRequestsAtOnce) {
  constexpr std::size_t count = 1000, bytes = 2 * count * sizeof(int), many = 4;
  tonari_neighborhood near = ring();
  std::array<std::byte*, many> out, in;
  std::array<tonari_request, many> requests;
  for (std::size_t k = 0; k < many; ++k) {
    out[k] = on().allocate(bytes), in[k] = on().allocate(bytes);
    ASSERT_OK(tonari_alltoall_init(out[k], count, MPI_INT, in[k], count, MPI_INT, near,
                                   MPI_INFO_NULL, &requests[k]));
  }
  tonari_request_info info;
  ASSERT_OK(tonari_request_get_info(requests[0], &info));
  EXPECT_STREQ(info.channel, "device-handles") << tonari_request_describe(requests[0]);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t k = 0; k < many; ++k)
      on().write(out[k], content(sent(world_rank(), 10 * round + static_cast<int>(k), count)));
    for (const tonari_request request : requests) EXPECT_OK(tonari_start(request));
    for (std::size_t k = many; k-- > 0;) EXPECT_OK(tonari_wait(requests[k]));
    for (std::size_t k = 0; k < many; ++k)
      EXPECT_EQ(on().read(in[k], bytes),
                content(expected(10 * round + static_cast<int>(k), count)));
  }
  for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Memory of cudaMallocAsync, by the driver that the library has opened.
class PoolMemory {
 public:
  PoolMemory(DeviceStream stream, std::size_t bytes) : stream_(stream.value) {
    const auto allocate =
        function<int (*)(std::uintptr_t*, std::size_t, std::uintptr_t)>("cuMemAllocAsync");
    const bool there = allocate && allocate(&at_, bytes, stream_) == 0;
    if (!there) at_ = 0;
  }
  ~PoolMemory() {
    if (!at_) return;
    EXPECT_EQ(function<int (*)(std::uintptr_t, std::uintptr_t)>("cuMemFreeAsync")(at_, stream_), 0);
  }
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;
  std::byte* at() const { return reinterpret_cast<std::byte*>(at_); }

 private:
  template <class Function>
  static Function function(const char* name) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
  }
  std::uintptr_t stream_, at_ = 0;
};

// No process can map it; only this rank's device reads and writes it.
TEST_F(OnGpu, MemoryOfPoolsGoesByHandles) {
  if (!on_cuda()) GTEST_SKIP() << "there is no GPU of CUDA";
  constexpr std::size_t count = 1000, bytes = 2 * count * sizeof(int);
  tonari_neighborhood near = ring();
  {
    PoolMemory out(on().first, bytes), in(on().first, bytes);
    ASSERT_TRUE(out.at() && in.at());
    on().device.synchronize(on().first);
    EXPECT_CONTAINS(on().device.memory_at(out.at()).not_exported, "memory of a pool");
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(out.at(), count, MPI_INT, in.at(), count, MPI_INT, near,
                                   Info{{"tonari_channel", "device-handles"}}, &request));
    for (int round = 0; round < 10; ++round) {
      on().write(out.at(), content(sent(world_rank(), round, count)));
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(on().read(in.at(), bytes), content(expected(round, count))) << "round " << round;
    }
    EXPECT_OK(tonari_request_free(&request));
    on().device.synchronize(on().first);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// The host waits for the last exchange only. Blocks come by way of other ranks, and of this one.
TEST_F(OnGpu, PlansCombineBlocksOnTheWay) {
  Random common(72);
  for (const char* algorithm : {"torus", "torus-direct", "additive-basis"}) {
    Topology t = torus_of_all(2);
    t.offsets = box(2, -1, 1), t.name = "moore";
    MPI_Comm cart = make_cart(t);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(
        tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
    MPI_Comm_free(&cart);
    const Graph graph = graph_of(t);
    for (const Operation op : all_operations) {
      SCOPED_TRACE(std::string(name(op)) + ", " + algorithm);
      const Sizes sizes = random_sizes(common, op, true);
      Random own(common() + 977u * static_cast<unsigned>(world_rank()));
      Buffers b = make_buffers(own, graph, world_rank(), op, sizes);
      SideOnDevice out(on(), b.out), in(on(), b.in);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(init(op, b.out, b.in, near, Info{{"tonari_algorithm", algorithm}}, &request));
      b.out.free_types(), b.in.free_types();
      tonari_request_info info;
      ASSERT_OK(tonari_request_get_info(request, &info));
      EXPECT_STREQ(info.algorithm, algorithm);
      const bool handles = std::string(info.channel) == "device-handles";
      EXPECT_TRUE(handles || everywhere(info.bytes == 0)) << tonari_request_describe(request);
      for (int round = 0; round < 12; ++round) {
        b.prepare(world_rank(), round);
        out.put(), in.put();
        for (int repeat = 0; repeat < 1 + round % 4; ++repeat) {
          EXPECT_OK(tonari_start_on(request, handle(on().first)));
          EXPECT_OK(tonari_wait_on(request, handle(repeat % 2 ? on().first : on().second)));
          on().device.record(on().second, on().event);
          on().device.wait_event(on().first, on().event);
        }
        on().device.synchronize(on().first);
        out.get(), in.get();
        EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << tonari_request_describe(request);
      }
      EXPECT_OK(tonari_request_free(&request));
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// What is measured at init delivers; which way wins is up to the device, and the description says.
TEST_F(OnGpu, WaysThatRaceDeliver) {
  tonari_neighborhood near = ring();
  // simulated devices copy byte by byte
  const auto counts = on_cuda() ? std::vector<std::size_t>{1000, 200'000, 4'000'000}
                                : std::vector<std::size_t>{1000, 40'000};
  for (const std::size_t count : counts) {
    const std::size_t bytes = 2 * count * sizeof(int);
    tonari::HeldOnDevice held(on().device);
    std::byte* const out = held.allocate(MemoryKind::device, 0, bytes);
    std::byte* const in = held.allocate(MemoryKind::device, 0, bytes);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(out, count, MPI_INT, in, count, MPI_INT, near,
                                   Info{{"tonari_tune", "measure"}}, &request));
    for (int round = 0; round < 3; ++round) {
      on().write(out, content(sent(world_rank(), round, count)));
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(on().read(in, bytes), content(expected(round, count))) << "round " << round;
    }
    RecordProperty("of_" + std::to_string(count), tonari_request_describe(request));
    EXPECT_OK(tonari_request_free(&request));
    on().device.synchronize(on().first);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(OnGpu, FreedMemoryIsRefused) {
  tonari_neighborhood near = ring();
  tonari::HeldOnDevice held(on().device);
  std::byte* const in = on().allocate(1 << 20);
  std::byte* const out = held.allocate(MemoryKind::device, 0, 1 << 20);
  ASSERT_EQ(held.give_back(), std::nullopt);
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_NE(tonari_alltoall_init(out, 1 << 10, MPI_INT, in, 1 << 10, MPI_INT, near, MPI_INFO_NULL,
                                 &request),
            TONARI_SUCCESS);
  EXPECT_CONTAINS(tonari_last_error(), "give memory that is allocated, and was not freed");
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
