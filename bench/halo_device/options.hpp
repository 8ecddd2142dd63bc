// SPDX-License-Identifier: BSD-3-Clause
// The command line of tonari_bench_halo_device.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"

namespace bench::halo {

struct DeviceOptions : CommonOptions {  // max_time: per size
  std::vector<long long> sizes{64};     // own cells along each dimension
  long long ghost = 8;
  std::string device = "auto";  // cuda, simulated, or the first of them that is there
  std::vector<std::string> stencils{"7", "125"};  // points; or none
};

// Throws tonari::Error with a sentence.
DeviceOptions parse_device_options(int argc, char** argv);
extern const char* const device_usage;

}  // namespace bench::halo
