// SPDX-License-Identifier: BSD-3-Clause
#include "device/network_reach.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace tonari {
namespace {

using Path = std::filesystem::path;

bool there(const Path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

// InfiniBand, RoCE, Omni-Path and EFA have the first class, and Slingshot has the other one.
std::vector<std::string> adapters_of(const Path& system) {
  std::vector<std::string> names;
  for (const char* const kind : {"infiniband", "cxi"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(system / "class" / kind, none))
      names.push_back(entry.path().filename().string());
  }
  return names;
}

// NVIDIA's own adapters need one of these modules; drivers of others may show such memory alone.
bool needs_module(const std::string& adapter) { return adapter.starts_with("mlx"); }
bool has_module(const Path& system) {
  return there(system / "module/nvidia_peermem") || there(system / "module/nv_peer_mem") ||
         there(system / "kernel/mm/memory_peers/nv_mem") ||
         there(system / "kernel/mm/memory_peers/nv_mem_nc");
}

}  // namespace

std::string why_out_of_networks(const NetworkReach& reach, const std::string& system) {
  if (!there(Path(system) / "class")) return "";
  const std::vector<std::string> adapters = adapters_of(system);
  if (adapters.empty())
    return "this node has no adapter that could read memory of a GPU (there is none in "
           "/sys/class/infiniband or /sys/class/cxi)";
  if (reach.dma_buf) return "";
  if (!reach.direct) return "the driver lets no adapter of a network read memory of this GPU";
  if (std::ranges::all_of(adapters, needs_module) && !has_module(system))
    return "no adapter can read memory of this GPU: it has no DMA-BUF, and the module "
           "nvidia_peermem is not loaded";
  return "";
}

}  // namespace tonari
