// SPDX-License-Identifier: BSD-3-Clause
// The kernels of src/device/cuda_kernels.cu, compiled for the host and run there block by block and
// thread by thread.
#pragma once

#include <span>

#include "copy/moves.hpp"

namespace tonari::test {

void run_move_kernel(std::span<const Move> table, unsigned threads);

}  // namespace tonari::test
