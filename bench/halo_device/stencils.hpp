// SPDX-License-Identifier: BSD-3-Clause
// Stencils that run on a device: the kernels of stencils.cu.
#pragma once

#include <cstdint>

namespace bench::halo {

extern const char* const stencils_source;  // stencils.cu, as the build has read it

// As in stencils.cu.
struct StencilCall {
  const double* in;
  double* out;
  long long plane, row;
  const std::int32_t* neighbors;
  const long long* place;
  int size;
  double coefficients[10];
};

struct Stencil {
  int points = 7;  // or 125
  bool bricks = false;
  const char* kernel() const {
    return points == 7 ? bricks ? "seven_on_bricks" : "seven_on_array"
           : bricks    ? "full_on_bricks"
                       : "full_on_array";
  }
  // Of 256 threads each.
  unsigned blocks(const StencilCall& call) const {
    const auto size = static_cast<unsigned>(call.size);
    return bricks ? (size + 3) / 4 : (size + 31) / 32 * (size / 8) * (size / 8);
  }
};

// Runs one on the host, block by block and thread by thread.
void run_on_host(const Stencil& stencil, const StencilCall& call);

}  // namespace bench::halo
