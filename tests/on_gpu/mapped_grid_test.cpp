// SPDX-License-Identifier: BSD-3-Clause
// Mapped storage on a device of any kind: ghosts that a rank owns are its surface, and those of
// other ranks are exchanged.
#include "grid/grids.hpp"
#include "on_gpu/devices.hpp"

namespace {

using namespace tonari::test;

class MappedGridOnGpu : public OnDeviceOfAnyKind {
 protected:
  static void exchange(const Geometry& g, const char* algorithm) {
    TestGrid t(on_device(g), TONARI_STORAGE_MAPPED, true);
    for (int copy = 0; copy < t.copies; ++copy) {
      tonari_request request = request_of(t, copy, "auto");
      EXPECT_CONTAINS(std::string(tonari_request_describe(request)),
                      "these ghosts are its surface, mapped again on device 0");
      for (int round = 0; round < 3; ++round) {
        t.fill(copy, round);
        must(tonari_start(request));
        must(tonari_wait(request));
        EXPECT_TRUE(t.holds(copy, round, false, false)) << tonari_request_describe(request);
      }
      tonari_request_info info;
      must(tonari_request_get_info(request, &info));
      EXPECT_CONTAINS(std::string(info.algorithm), algorithm);
      must(tonari_request_free(&request));
    }
    tonari_grid_info info;
    must(tonari_grid_get_info(t.grid, &info));
    EXPECT_EQ(info.page, on().device.granularity(0));
    EXPECT_GT(info.padding_percent, 0);
  }
};

TEST_F(MappedGridOnGpu, TwoDimensions) { exchange(row_of_ranks(2, 16, 2), "zero-byte"); }

TEST_F(MappedGridOnGpu, FieldsThatAreInterleaved) {
  Geometry g = row_of_ranks(2, 12, 2);
  g.shape.fields = 3, g.shape.interleaved = 1;
  exchange(g, "zero-byte");
}

// The surface of a cube has 26 regions.
TEST_F(MappedGridOnGpu, ThreeDimensions) {
  if (!on_cuda()) GTEST_SKIP() << "there is no GPU of CUDA";
  exchange(row_of_ranks(3, 12, 2), "zero-byte");
}

}  // namespace
