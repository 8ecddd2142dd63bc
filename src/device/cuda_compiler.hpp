// SPDX-License-Identifier: BSD-3-Clause
// Kernels compiled for a device: by nvcc when the library was built, or by NVRTC, CUDA's compiler
// at run time, and then kept in a folder for the next process.
#pragma once

#include <span>
#include <string>

namespace tonari::cuda {

extern const char* const kernels_source;  // cuda_kernels.cu, as the build has read it

// What nvcc has made of them for usual devices, as a fat binary; empty where the build had none.
std::span<const unsigned char> built_kernels();

// What cuModuleLoadData loads, of such a source. `capability`: of the device, 90 for 9.0; `driver`:
// its version, as the driver has it: it does not load what a newer NVRTC makes. `cache`: a folder;
// empty: nothing is kept. Throws Errc::argument where there is no NVRTC, or none for such a device.
std::string compiled_kernels(const char* source, int capability, int driver,
                             const std::string& cache);

}  // namespace tonari::cuda
