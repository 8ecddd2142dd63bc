// SPDX-License-Identifier: BSD-3-Clause
// Memory without an address of its own, by the numbers that a device gives to programs. Region:
// what the device keeps of one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace tonari {

// granularity: of the device, in bytes.
inline void check_region_bytes(Bytes bytes, Bytes granularity) {
  if (bytes == 0 || bytes % granularity != 0)
    fail(Errc::argument, "a region of ", bytes, " bytes is no multiple of the granularity of ",
         granularity, " bytes");
}

template <class Region>
class Regions {
 public:
  DeviceRegion add(Region region) {
    all_.emplace(next_, std::move(region));
    return {next_++};
  }
  Region& operator[](DeviceRegion region) { return all_.at(region.number); }
  // Gives it up.
  Region take(DeviceRegion region) {
    auto found = all_.extract(region.number);
    if (!found) fail(Errc::argument, "region ", region.number, " was freed before, or never made");
    return std::move(found.mapped());
  }
  // Those of one mapping, in this order.
  std::vector<Region> of(std::span<const DeviceRegion> regions) const {
    std::vector<Region> shown;
    for (const DeviceRegion& region : regions) {
      const auto found = all_.find(region.number);
      if (found == all_.end())
        fail(Errc::argument, "region ", region.number, " was freed, or never made");
      shown.push_back(found->second);
    }
    if (shown.empty()) fail(Errc::argument, "a mapping has at least one region");
    return shown;
  }
  const std::map<std::int64_t, Region>& all() const { return all_; }

 private:
  std::map<std::int64_t, Region> all_;
  std::int64_t next_ = 0;
};

}  // namespace tonari
