// SPDX-License-Identifier: BSD-3-Clause
// Whether adapters of networks can reach memory of a GPU of CUDA. Where none can, messages to other
// nodes pass the host's memory, whatever the MPI says of itself.
#pragma once

#include <string>

namespace tonari {

// What the driver says of a device.
struct NetworkReach {
  bool direct = false;   // modules of the kernel may show its memory to adapters
  bool dma_buf = false;  // its memory can be exported as a DMA-BUF, which needs no such module
};

// Why no adapter of this node can, as a sentence; empty: one may, or nothing tells. That one may
// does not say that the MPI uses it. system: where the kernel tells of adapters and modules.
std::string why_out_of_networks(const NetworkReach& reach, const std::string& system = "/sys");

}  // namespace tonari
