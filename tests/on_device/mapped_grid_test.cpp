// SPDX-License-Identifier: BSD-3-Clause
// Mapped storage on a device: ghosts that a rank owns itself are its surface, and those of others
// are exchanged.
#include "on_device/device_grid.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

constexpr int mapped = TONARI_STORAGE_MAPPED;

// Regions are padded to 64 KiB, and what watches the order of streams is eight times as large.
tonari::SimulatedOptions unwatched() {
  tonari::SimulatedOptions options;
  options.watch_order = false;
  return options;
}

// Along one dimension all ranks, and one rank that is its own neighbor along the others.
Geometry row(int dims, std::int64_t own) { return on_device(row_of_ranks(dims, own, 2)); }

// Each rank for itself.
Geometry grid_alone(int dims, std::int64_t own) {
  Geometry g = row(dims, own);
  g.ranks[0] = 1;
  g.cuts[0].assign(1, own);
  return g;
}

class MappedOnDevice : public testing::Test {
 protected:
  static void exchange_copies(TestGrid& t, bool faces, int rounds = 2) {
    for (int copy = 0; copy < t.copies; ++copy) {
      tonari_request request = request_of(t, copy, "auto", faces);
      for (int round = 0; round < rounds; ++round) {
        t.fill(copy, round);
        must(tonari_start(request));
        must(complete(request, (world_rank() + round) % 2 == 0));
        EXPECT_TRUE(t.holds(copy, round, faces, false)) << tonari_request_describe(request);
      }
      must(tonari_request_free(&request));
      t.fill(copy, rounds);
      must(tonari_grid_forward(t.grid, copy, nullptr));
      EXPECT_TRUE(t.holds(copy, rounds, false, false));
    }
  }
  void refuse(const tonari_grid_shape& shape, std::initializer_list<std::string> words,
              int code = TONARI_ERR_ARGUMENT) const {
    MPI_Comm cart = g.make_cart();
    tonari_grid grid = TONARI_GRID_NULL;
    expect_everywhere(tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid), code, words);
    EXPECT_EQ(grid, TONARI_GRID_NULL);
    MPI_Comm_free(&cart);
  }
  tonari_grid_shape shape_on_device() const {
    tonari_grid_shape shape = g.shape_of(world_rank());
    shape.storage = mapped, shape.mapped_ghosts = 1;
    if (last) shape.memory = TONARI_MEMORY_DEVICE;
    return shape;
  }

  const Geometry g = plain_geometry(2, 8, 2);
  const bool last = world_rank() == world_size() - 1;
};

TEST_F(MappedOnDevice, RandomGridsOnSomeRanksOrAll) {
  Random common(311);
  for (int k = 0; k < cases(24); ++k) {
    Geometry drawn = draw_geometry(common, 1 + k % 2, true);
    const bool faces = pick(common, 0, 3) == 0, all = pick(common, 0, 1) == 0 || world_size() == 1;
    if (drawn.element_bytes == 12) drawn.shape.type = MPI_FLOAT, drawn.element_bytes = 4;
    drawn.shape.fields = std::min(drawn.shape.fields, 2);
    UsedDevice device(unwatched(), static_cast<unsigned>(k));
    {
      TestGrid t(on_device(drawn, all || (k + world_rank()) % 3 != 0), mapped, true);
      exchange_copies(t, faces);
    }
    if (drawn.ours && drawn.element_bytes != 4) MPI_Type_free(&drawn.shape.type);
  }
}

TEST_F(MappedOnDevice, ThreeDimensions) {
  UsedDevice device(unwatched());
  TestGrid t(row(3, 8), mapped, true);
  exchange_copies(t, false);
}

// One rank that is its own 26 neighbors: nothing is launched, and nothing travels.
TEST_F(MappedOnDevice, NothingMovesWhereARankIsItsOwnNeighbor) {
  if (world_size() > 1) GTEST_SKIP() << "of one rank";
  UsedDevice device(unwatched());
  TestGrid t(grid_alone(3, 8), mapped, true);
  tonari_request request = request_of(t, 0, "zero-byte");
  EXPECT_CONTAINS(std::string(tonari_request_describe(request)),
                  "26 messages to itself are spared: these ghosts are its surface, mapped again "
                  "on device 0");
  tonari_request_info info;
  must(tonari_request_get_info(request, &info));
  EXPECT_EQ(std::string(info.algorithm), "zero-byte");
  EXPECT_EQ(info.messages, 0);
  t.fill(0, 1);
  const std::size_t launches = device->launches();
  must(tonari_start(request));
  must(tonari_wait(request));
  EXPECT_EQ(device->launches(), launches);
  EXPECT_TRUE(t.holds(0, 1, false, false));
  must(tonari_request_free(&request));
}

// With a neighbor on each side, all of it is exchanged.
TEST_F(MappedOnDevice, NoGhostIsItsOwnAmongOtherRanks) {
  if (world_size() < 2) GTEST_SKIP() << "needs a neighbor";
  UsedDevice device(unwatched());
  TestGrid t(row(1, 8), mapped, true);
  tonari_request request = request_of(t, 0, "auto");
  const std::string described = tonari_request_describe(request);
  EXPECT_EQ(described.find("spared"), std::string::npos) << described;
  EXPECT_CONTAINS(described, "go from device to device by handles");
  must(tonari_request_free(&request));
  exchange_copies(t, false);
}

// Own cells alone have memory, padded to what the device maps.
TEST_F(MappedOnDevice, SaysWhatPaddingCosts) {
  if (world_size() > 1) GTEST_SKIP() << "of one rank";
  UsedDevice device(unwatched());
  const std::size_t page = device.program().granularity(0);
  TestGrid t(grid_alone(2, 12), mapped, true);
  tonari_grid_info info;
  must(tonari_grid_get_info(t.grid, &info));
  EXPECT_EQ(info.page, page);
  // 9 bricks: the interior, 8 regions of the surface, and the brick that stands for nowhere
  EXPECT_EQ(info.bytes, 2 * 10 * page);
  EXPECT_GT(info.padding_percent, 1000);
  EXPECT_GE(info.mappings, 2 * 21);
  tonari_grid_info host;
  {
    Geometry same = grid_alone(2, 12);
    same.some_on_device = false, same.shape.memory = TONARI_MEMORY_HOST;
    same.shape.page = page;
    TestGrid beside(same, mapped, true);
    must(tonari_grid_get_info(beside.grid, &host));
  }
  EXPECT_EQ(info.padding_percent, host.padding_percent);
  EXPECT_LT(info.bytes, host.bytes);
}

TEST_F(MappedOnDevice, AreZero) {
  UsedDevice device(unwatched());
  TestGrid t(row(2, 8), mapped, true);
  for (int copy = 0; copy < 2; ++copy) {
    const std::vector<unsigned char> all = t.field(0, copy, 0);
    EXPECT_EQ(std::ranges::count(all, 0), static_cast<std::ptrdiff_t>(all.size()));
  }
}

TEST_F(MappedOnDevice, OwnGhostsCannotBeWritten) {
  UsedDevice device(unwatched());
  TestGrid t(row(2, 8), mapped, true);
  const std::vector<double> cells(4);
  tonari_box box{};
  box.first[1] = -1, box.end[0] = box.end[1] = 0, box.end[0] = 4;
  EXPECT_EQ(tonari_grid_import(t.grid, 0, 0, 0, &box, cells.data()), TONARI_ERR_ARGUMENT);
  EXPECT_CONTAINS(tonari_last_error(), "import own cells");
}

TEST_F(MappedOnDevice, CellsGoToFilesAndComeBack) {
  UsedDevice device(unwatched());
  const std::string name = "mapped_on_device_" + std::to_string(world_size()) + ".npy";
  TestGrid t(row(2, 8), mapped, true);
  t.fill(0, 3);
  must(tonari_grid_save(t.grid, 0, 0, name.c_str()));
  t.fill(1, 4);
  must(tonari_grid_load(t.grid, 1, 0, name.c_str()));
  must(tonari_grid_save(t.grid, 1, 0, name.c_str()));
  must(tonari_grid_load(t.grid, 0, 0, name.c_str()));
  must(tonari_grid_forward(t.grid, 0, nullptr));
  EXPECT_TRUE(t.holds(0, 3, false, false));
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::remove(name.c_str());
}

TEST_F(MappedOnDevice, WhatCannotBe) {
  UsedDevice device(unwatched());
  tonari_grid_shape shape = shape_on_device();
  shape.mapped_ghosts = 0;
  refuse(shape, {"set shape.mapped_ghosts, or choose storage brick"});
  shape = shape_on_device();
  shape.copies = 1;
  refuse(shape, {"set shape.copies to 2"});
  shape = shape_on_device();
  shape.page = 4096;
  refuse(shape, {"shape.page is 4096", "device 0 maps memory in multiples of 65536 bytes"});
  shape = shape_on_device();
  shape.page = last ? 65536 : 131072;
  if (world_size() > 1) refuse(shape, {"shape.page is 131072 on rank 0"}, TONARI_ERR_MISMATCH);
  shape = shape_on_device();
  shape.device = last ? 1 : 0;
  refuse(shape, {"shape.device is 1; there is 1 device"});
}

TEST_F(MappedOnDevice, DevicesThatMapNothing) {
  tonari::SimulatedOptions without = unwatched();
  without.lacks = {tonari::Ability::mapped_memory};
  UsedDevice device(without);
  refuse(shape_on_device(), {"storage mapped cannot be in memory of device 0", "storage brick"});
}

TEST_F(MappedOnDevice, WhateverFails) {
  UsedDevice device(unwatched());
  const tonari_grid_shape shape = shape_on_device();
  MPI_Comm cart = g.make_cart();
  tonari_grid grid = TONARI_GRID_NULL;
  int failures = 0;
  for (;; ++failures) {
    ASSERT_LT(failures, 200);
    device->fail_at(last ? static_cast<std::size_t>(failures) + 1 : 0);
    const int code = tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
    device->fail_at(0);
    if (code == TONARI_SUCCESS) break;
    EXPECT_TRUE(code == TONARI_ERR_MEMORY || code == TONARI_ERR_ARGUMENT);
    expect_everywhere(code, code, {});
    EXPECT_EQ(device->held(), 0u);
  }
  // Regions, their mapping, zeros and copies. Where ranks lie along both dimensions, all ghosts are
  // of other ranks, and nothing is mapped a second time.
  EXPECT_GE(failures, g.ranks[1] == 1 ? 15 : 5);
  must(tonari_grid_free(&grid));
  MPI_Comm_free(&cart);
}

// ---- in the order of streams

// Kernels write the copies in turn, and look at ghosts after exchanges.
class Turns {
 public:
  Turns(UsedDevice& device, TestGrid& grid, std::uint32_t seed)
      : device_(device.program()), grid_(grid), random_(seed) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0);
    last_ = streams_[0];
    for (int copy = 0; copy < 2; ++copy) requests_[copy] = request_of(grid, copy, "auto");
  }
  ~Turns() {
    for (tonari_request& request : requests_) must(tonari_request_free(&request));
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_);
  }
  void exchange(int round) {
    const int copy = round % 2;
    const DeviceStream stream = streams_[random_() % 3], waits = streams_[random_() % 3];
    follow(stream, last_);
    look(stream, copy, round, true);
    must(tonari_start_on(requests_[copy], as_handle(stream)));
    must(tonari_wait_on(requests_[copy], as_handle(waits)));
    look(waits, copy, round, false);
    last_ = waits;
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }

 private:
  static void* as_handle(DeviceStream stream) { return reinterpret_cast<void*>(stream.value); }
  void follow(DeviceStream stream, DeviceStream behind) {
    if (stream == behind) return;
    device_.record(behind, event_);
    device_.wait_event(stream, event_);
  }
  // Writes own cells, or reads ghosts.
  void look(DeviceStream stream, int copy, int round, bool own) {
    const std::vector<unsigned char> values =
        expected(grid_.g, 0, copy, 0, round, [](const Index&) { return true; });
    const tonari_box whole = grid_.g.whole(world_rank(), 0);
    const Index extent = grid_.g.own(world_rank(), 0);
    struct Cell {
      std::byte* at;
      double value;
    };
    std::vector<Cell> cells;
    std::vector<SimulatedDevice::Touched> touched;
    std::size_t n = 0;
    for_cells(whole, grid_.g.dims, [&](const Index& x) {
      double value = 0;
      std::memcpy(&value, &values[n++ * sizeof value], sizeof value);
      bool inside = true;
      for (int k = 0; k < grid_.g.dims; ++k) inside = inside && x[k] >= 0 && x[k] < extent[k];
      if (inside != own) return;
      void* cell = nullptr;
      must(tonari_grid_at(grid_.grid, 0, copy, 0, x.data(), &cell));
      cells.push_back({device_.on_device(static_cast<std::byte*>(cell)), value});
      touched.push_back({static_cast<std::byte*>(cell), sizeof value});
    });
    const auto body = [this, own, cells] {
      for (const auto& [at, value] : cells)
        if (own)
          std::memcpy(at, &value, sizeof value);
        else
          wrong_ += std::memcmp(at, &value, sizeof value) != 0;
    };
    if (own)
      device_.launch(stream, {}, touched, body);
    else
      device_.launch(stream, touched, {}, body);
  }

  SimulatedDevice& device_;
  TestGrid& grid_;
  Random random_;
  std::array<DeviceStream, 3> streams_;
  std::array<tonari_request, 2> requests_{};
  tonari::DeviceEvent event_;
  DeviceStream last_;
  int wrong_ = 0;
};

class MappedInStreams : public testing::Test {
 protected:
  static int play(std::uint32_t seed, int lie = -1) {
    UsedDevice device({}, seed);
    TestGrid t(row(2, 8), mapped, true);
    int wrong = 0;
    {
      Turns turns(device, t, seed + static_cast<unsigned>(world_rank()));
      device->lie_about(lie);
      const auto failed = tonari::error_of([&] {
        for (int round = 0; round < 6; ++round) turns.exchange(round);
        turns.complete();
      });
      if (failed && lie < 0) ADD_FAILURE() << failed->what();
      wrong = turns.wrong() + (failed ? 1000 : 0);
      if (failed || lie >= 0) device.program().reset(0);
      device->lie_about(-1);
    }
    return wrong;
  }
};

TEST_F(MappedInStreams, ConsumersSeeWhatOwnersHaveWhateverTheOrder) {
  for (std::uint32_t seed = 0; seed < static_cast<std::uint32_t>(cases(40)); ++seed)
    ASSERT_EQ(play(seed), 0) << "seed " << seed;
}

// The stream of a wait comes behind that of the start, though nothing was copied.
TEST_F(MappedInStreams, WhatOrdersThemIsNeeded) {
  if (world_size() > 1) GTEST_SKIP() << "of one rank";
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 100 && wrong == 0; ++seed) wrong = play(seed, 0);
  EXPECT_GT(wrong, 0);
}

}  // namespace
