// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/host_kernels.hpp"

#include <vector>

namespace on_device {

struct Index {
  unsigned x = 0;
};
thread_local Index blockIdx, threadIdx, blockDim;
void __threadfence_system() {}

#define __global__
#define __device__ static
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wundef"
#include "device/cuda_kernels.cu"
#pragma GCC diagnostic pop

}  // namespace on_device

namespace tonari::test {

void run_move_kernel(std::span<const Move> table, unsigned threads) {
  const auto* const moves = reinterpret_cast<const on_device::Move*>(table.data());
  on_device::blockDim.x = threads;
  for (on_device::blockIdx.x = 0; on_device::blockIdx.x < table.size(); ++on_device::blockIdx.x)
    for (on_device::threadIdx.x = 0; on_device::threadIdx.x < threads; ++on_device::threadIdx.x)
      on_device::move_tiles(moves);
}

}  // namespace tonari::test
