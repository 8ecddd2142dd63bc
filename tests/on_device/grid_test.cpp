// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges of grids whose arrays lie in memory of a device, on some ranks or on all.
#include "on_device/device_grid.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class DeviceGrids : public testing::Test {
 protected:
  struct Case {
    const char *tune, *halo;
    int rounds;
  };

  // Random grids, each with an exchange for every copy.
  static void exchange(std::uint32_t seed, const Case& c, int many) {
    Random common(seed);
    for (int k = 0; k < cases(many); ++k) {
      Geometry g = draw_small_geometry(common, 1 + k % 3, 1 + k % 2);
      const int order = pick(common, 0, 1) ? TONARI_ORDER_FORTRAN : TONARI_ORDER_C;
      const bool faces = pick(common, 0, 3) == 0;
      UsedDevice device({}, seed + static_cast<unsigned>(k));
      {
        DeviceGrid t(g, device.program(), lies_on_device(common()), order);
        SCOPED_TRACE(g.text());
        for (int copy = 0; copy < t.copies; ++copy) {
          const Info info{{"tonari_tune", c.tune},
                          {"tonari_halo", c.halo},
                          {"tonari_halo_neighbors", faces ? "faces" : "all"}};
          tonari_request request = TONARI_REQUEST_NULL;
          must(tonari_grid_exchange_init(t.grid, copy, info, &request));
          run(t, copy, request, c.rounds, faces);
          must(tonari_request_free(&request));
        }
      }
      free_type(g);
    }
  }
  static void run(DeviceGrid& t, int copy, tonari_request request, int rounds, bool faces) {
    for (int round = 0; round < rounds; ++round) {
      t.fill(copy, round);
      must(tonari_start(request));
      must(complete(request, (world_rank() + round) % 2 == 0));
      EXPECT_EQ(t.wrong(copy, round, faces), "") << tonari_request_describe(request);
    }
  }
  static bool is_own(const DeviceGrid& t, int s, std::size_t byte) {
    bool own = false;
    t.for_places(s, [&](std::size_t at, bool inside) { own = own || (inside && at == byte); });
    return own;
  }
  // Each rank for itself; most do.
  static bool lies_on_device(std::uint32_t seed) {
    return (seed + 31u * static_cast<unsigned>(world_rank())) % 4 != 0;
  }
};

TEST_F(DeviceGrids, GhostsHoldWhatTheirOwnersHave) { exchange(81, {"off", "auto", 3}, 60); }
TEST_F(DeviceGrids, ByThePlanThatIsAskedFor) { exchange(82, {"off", "plan", 2}, 12); }
TEST_F(DeviceGrids, WhereStartsChoose) { exchange(83, {"online", "auto", 40}, 12); }
TEST_F(DeviceGrids, WhereInitMeasures) { exchange(84, {"measure", "auto", 2}, 3); }

// By handles where all cells lie on devices, whether or not blocks are combined.
TEST_F(DeviceGrids, ByAlgorithmsThatAreAskedFor) {
  Random common(88);
  int handles = 0;
  for (const char* algorithm : {"linear", "torus", "torus-direct", "message-sharing", "coloring"})
    for (int k = 0; k < std::max(2, cases(4)); ++k) {
      Geometry g = draw_small_geometry(common, 1 + k % 3, 1);
      UsedDevice device({}, static_cast<unsigned>(k));
      {
        DeviceGrid t(g, device.program(), true);
        SCOPED_TRACE(g.text() + ", " + algorithm);
        tonari_request request = TONARI_REQUEST_NULL;
        const int code = tonari_grid_exchange_init(
            t.grid, 0, Info{{"tonari_tune", "off"}, {"tonari_algorithm", algorithm}}, &request);
        if (code != TONARI_ERR_ALGORITHM) {
          must(code);
          const std::string described = tonari_request_describe(request);
          handles += described.find("by handles") != std::string::npos;
          run(t, 0, request, 3, false);
          must(tonari_request_free(&request));
        }
      }
      free_type(g);
    }
  if (world_size() > 1) {
    EXPECT_GT(handles, 0);
  }
}

TEST_F(DeviceGrids, AtOnce) {
  Random common(85);
  for (int k = 0; k < cases(12); ++k) {
    Geometry g = draw_small_geometry(common, 1 + k % 3, 2);
    UsedDevice device({}, static_cast<unsigned>(k));
    {
      DeviceGrid t(g, device.program(), lies_on_device(common()));
      for (int round = 0; round < 4; ++round) {
        t.fill(round % 2, round);
        must(tonari_grid_forward(t.grid, round % 2, nullptr));
        EXPECT_EQ(t.wrong(round % 2, round), "");
      }
    }
    free_type(g);
  }
}

// More copies than tables are kept.
TEST_F(DeviceGrids, StartsWithOtherArrays) {
  Random common(86);
  for (int k = 0; k < cases(9); ++k) {
    Geometry g = draw_small_geometry(common, 1 + k % 3, 11);
    g.shape.fields = 1;
    UsedDevice device({}, static_cast<unsigned>(k));
    {
      DeviceGrid t(g, device.program(), lies_on_device(common()));
      tonari_request request = TONARI_REQUEST_NULL;
      must(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_tune", "off"}}, &request));
      for (int round = 0; round < 25; ++round) {
        const int copy = round * (round % 5 == 0 ? 1 : 7) % t.copies;
        t.fill(copy, round);
        must(tonari_grid_start_with(request, t.arrays(copy).data()));
        must(tonari_wait(request));
        EXPECT_EQ(t.wrong(copy, round), "");
      }
      must(tonari_request_free(&request));
    }
    free_type(g);
  }
}

TEST_F(DeviceGrids, ImportAndExport) {
  Random common(87);
  for (int k = 0; k < cases(20); ++k) {
    Geometry g = draw_small_geometry(common, 1 + k % 3, 1);
    const int order = k % 2 ? TONARI_ORDER_FORTRAN : TONARI_ORDER_C;
    UsedDevice device({}, static_cast<unsigned>(k));
    {
      DeviceGrid t(g, device.program(), lies_on_device(common()), order);
      t.for_fields([&](int s, int f) {
        const std::vector<Byte> all = t.after(s, 0, f, 3);
        const tonari_box whole = t.g.whole(world_rank(), s);
        must(tonari_grid_import(t.grid, s, 0, f, &whole, all.data()));
        EXPECT_EQ(t.memory(s, 0, f).get(), all);
        std::vector<Byte> out(all.size());
        must(tonari_grid_export(t.grid, s, 0, f, &whole, out.data()));
        EXPECT_EQ(out, all);
        // own cells only
        const std::vector<Byte> other = t.after(s, 0, f, 4);
        std::vector<Byte> own, got;
        std::vector<Byte> mixed = all;
        t.for_places(s, [&](std::size_t at, bool inside) {
          if (inside) std::memcpy(&mixed[at], &other[at], t.g.element_bytes);
        });
        for (std::size_t at = 0; at < mixed.size(); at += t.g.element_bytes)
          if (is_own(t, s, at)) own.insert(own.end(), &mixed[at], &mixed[at] + t.g.element_bytes);
        must(tonari_grid_import(t.grid, s, 0, f, nullptr, own.data()));
        EXPECT_EQ(t.memory(s, 0, f).get(), mixed);
        got.resize(own.size());
        must(tonari_grid_export(t.grid, s, 0, f, nullptr, got.data()));
        EXPECT_EQ(got, own);
      });
    }
    free_type(g);
  }
}

TEST_F(DeviceGrids, SaveAndLoad) {
  Geometry g = plain_geometry(2, 5, 2);
  UsedDevice device;
  DeviceGrid t(g, device.program(), lies_on_device(1));
  const std::string name = "on_device_grid_" + std::to_string(world_size()) + ".npy";
  t.fill(0, 1), t.fill(1, 2);
  must(tonari_grid_save(t.grid, 0, 0, name.c_str()));
  must(tonari_grid_load(t.grid, 1, 0, name.c_str()));
  std::vector<Byte> saved = t.before(0, 0, 0, 1), want = t.before(0, 1, 0, 2);
  t.for_places(0, [&](std::size_t at, bool own) {
    if (own) std::memcpy(&want[at], &saved[at], t.g.element_bytes);
  });
  EXPECT_EQ(t.memory(0, 1, 0).get(), want);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::remove(name.c_str());
}

}  // namespace
