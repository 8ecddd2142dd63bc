// SPDX-License-Identifier: BSD-3-Clause
#include "device/network_reach.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace tonari::test {
namespace {

// What a kernel tells, in a folder of its own.
class NetworkReachOf : public testing::Test {
 protected:
  NetworkReachOf() {
    std::string name = (std::filesystem::temp_directory_path() / "tonari-sys-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    system_ = name;
  }
  ~NetworkReachOf() override { std::filesystem::remove_all(system_); }

  void add(const char* folder) const { std::filesystem::create_directories(system_ / folder); }
  std::string why(bool direct, bool dma_buf) const {
    return why_out_of_networks({direct, dma_buf}, system_.string());
  }
  void expect_why(bool direct, bool dma_buf, const std::string& part) const {
    EXPECT_NE(why(direct, dma_buf).find(part), std::string::npos) << why(direct, dma_buf);
  }

 private:
  std::filesystem::path system_;
};

TEST_F(NetworkReachOf, IsUnknownWhereTheSystemTellsNothing) { EXPECT_EQ(why(true, true), ""); }

TEST_F(NetworkReachOf, NeedsAnAdapter) {
  add("class/infiniband");
  expect_why(true, true, "this node has no adapter");
  add("class/cxi/cxi0");
  EXPECT_EQ(why(true, true), "");
}

TEST_F(NetworkReachOf, NeedsTheDriver) {
  add("class/infiniband/mlx5_0");
  add("module/nvidia_peermem");
  expect_why(false, false, "the driver lets no adapter of a network read");
  EXPECT_EQ(why(false, true), "");
  EXPECT_EQ(why(true, false), "");
}

TEST_F(NetworkReachOf, NeedsAModuleWithoutDmaBuf) {
  add("class/infiniband/mlx5_0");
  expect_why(true, false, "the module nvidia_peermem is not loaded");
  EXPECT_EQ(why(true, true), "");
  add("module/nv_peer_mem");
  EXPECT_EQ(why(true, false), "");
}

// Drivers of such adapters may need no module.
TEST_F(NetworkReachOf, DoesNotBlameOtherAdapters) {
  add("class/infiniband/mlx5_0");
  add("class/infiniband/hfi1_0");
  EXPECT_EQ(why(true, false), "");
}

}  // namespace
}  // namespace tonari::test
