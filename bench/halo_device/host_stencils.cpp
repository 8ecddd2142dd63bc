// SPDX-License-Identifier: BSD-3-Clause
// The kernels of stencils.cu, compiled for the host.
#include "halo_device/stencils.hpp"

namespace on_host {

struct Index {
  unsigned x = 0;
};
Index blockIdx, threadIdx;

#define __global__
#define __device__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "halo_device/stencils.cu"
#pragma GCC diagnostic pop

}  // namespace on_host

namespace bench::halo {

void run_on_host(const Stencil& stencil, const StencilCall& given) {
  static_assert(sizeof(on_host::Call) == sizeof given);
  const auto call = __builtin_bit_cast(on_host::Call, given);
  const auto kernel = stencil.points == 7
                          ? stencil.bricks ? on_host::seven_on_bricks : on_host::seven_on_array
                      : stencil.bricks ? on_host::full_on_bricks
                                       : on_host::full_on_array;
  const unsigned blocks = stencil.blocks(given);
  for (on_host::blockIdx.x = 0; on_host::blockIdx.x < blocks; ++on_host::blockIdx.x)
    for (on_host::threadIdx.x = 0; on_host::threadIdx.x < 256; ++on_host::threadIdx.x) kernel(call);
}

}  // namespace bench::halo
