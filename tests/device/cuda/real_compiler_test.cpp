// SPDX-License-Identifier: BSD-3-Clause
// The kernels, as NVRTC itself compiles them: it needs no device, but it looks for the driver, so
// this runs without the one that the tests play.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "device/cuda_compiler.hpp"

namespace tonari::test {
namespace {

TEST(Nvrtc, CompilesTheKernels) {
  constexpr int driver = 13000;
  if (!dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL))
    GTEST_SKIP() << "there is no NVRTC of CUDA 13";
  for (const int capability : {75, 90}) {
    const std::string image = cuda::compiled_kernels(cuda::kernels_source, capability, driver, "");
    EXPECT_TRUE(
        image.starts_with("\x7f"
                          "ELF"));
    for (const char* kernel : {"move_tiles", "write_flags", "wait_flags"})
      EXPECT_NE(image.find(kernel), image.npos) << kernel;
  }
  // one that this compiler does not know yet: assembly for the newest that it knows
  EXPECT_NE(
      cuda::compiled_kernels(cuda::kernels_source, 999, driver, "").find(".entry move_tiles("),
      std::string::npos);
}

}  // namespace
}  // namespace tonari::test
