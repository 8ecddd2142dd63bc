// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "halo/check_cubes.hpp"
#include "halo_device/cube.hpp"

namespace bench::halo {
using tonari::Errc;

const char* const device_usage =
    "tonari_bench_halo_device [options]: ghost exchanges of a periodic cube of doubles in memory "
    "of a GPU that one rank has alone, side by side, and steps of stencils on it\n"
    "  --size N,...      own cells along each dimension (64)\n"
    "  --ghost N         width of the ghosts in cells, a multiple of bricks of 8 (8)\n"
    "  --device D        cuda, simulated (no GPU, times mean nothing), or auto: the first of them "
    "that is there\n"
    "  --stencils S,...  7, 125, or none (7,125)\n"
    "  --rounds N        timed rounds (200)      --max-time S  but no longer than so many seconds "
    "per size (20)\n"
    "  --output FILE     where the JSON goes (standard output)\n";

namespace {

constexpr long long most_cells = 1024;

void check_options(const DeviceOptions& options) {
  check_cubes(options.sizes, options.ghost, CubeShape::brick);
  if (options.stencils.size() > 1 &&
      std::find(options.stencils.begin(), options.stencils.end(), "none") != options.stencils.end())
    tonari::fail(Errc::argument, "--stencils has none and others; leave one of them out");
}

}  // namespace

DeviceOptions parse_device_options(int argc, char** argv) {
  DeviceOptions options;
  std::vector<std::string> device{options.device};
  read_options(
      argc, argv,
      {numbers("size", options.sizes, 1, most_cells), number("ghost", options.ghost, 1, most_cells),
       names("device", device, {"auto", "cuda", "simulated"}, "device"),
       names("stencils", options.stencils, {"7", "125", "none"}, "stencil")},
      options);
  if (device.size() > 1)
    tonari::fail(Errc::argument, "--device has ", device.size(), " names; give one");
  options.device = device.front();
  if (!options.help) check_options(options);
  return options;
}

}  // namespace bench::halo
