// SPDX-License-Identifier: BSD-3-Clause
#include "packing/aliased_memory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tonari {
namespace {

void check_numbers(Bytes granularity, Bytes bytes, std::span<const Alias> aliases) {
  const auto whole = [&](Bytes number) {
    if (number % granularity != 0)
      fail(Errc::argument, "memory is mapped in multiples of ", granularity,
           " bytes on this device, and ", number, " is none; round it up");
  };
  whole(bytes);
  for (const auto& [at, of, length] : aliases) {
    whole(at), whole(of), whole(length);
    if (length == 0 || std::max(at, of) > bytes || length > bytes - std::max(at, of))
      fail(Errc::argument, "an alias of ", length, " bytes at ", at, " of ", of,
           " does not lie within ", bytes, " bytes");
  }
}

// Regions that are made for the parts of the memory, given up at the end: they live on where they
// are mapped.
class Parts {
 public:
  Parts(Device& device, int number) : device_(device), number_(number) {}
  ~Parts() {
    for (const auto& [begin, part] : parts_)
      (void)error_of([&, region = part.region] { device_.free_region(region); });
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Bytes add(Bytes begin, Bytes end) {
    const auto entry = parts_.try_emplace(begin).first;
    const auto failed =
        error_of([&] { entry->second = {device_.make_region(number_, end - begin), end - begin}; });
    if (!failed) return end - begin;
    parts_.erase(entry);
    throw *failed;
  }
  // Those of which these bytes consist. Throws Errc::argument where there is none.
  void append(Bytes begin, Bytes end, std::vector<DeviceRegion>& all) const {
    while (begin < end) {
      const auto found = parts_.find(begin);
      if (found == parts_.end())
        fail(Errc::argument, "an alias is one of bytes at ", begin, ", which are an alias, too");
      all.push_back(found->second.region);
      begin += found->second.bytes;
    }
  }

 private:
  struct Part {
    DeviceRegion region;
    Bytes bytes = 0;
  };
  Device& device_;
  int number_;
  std::map<Bytes, Part> parts_;
};

}  // namespace

AliasedMemory::AliasedMemory(Device& device, int number, Bytes bytes, std::vector<Alias> aliases)
    : device_(device), bytes_(bytes) {
  if (const Capability mapped = device.ability(Ability::mapped_memory); !mapped)
    fail(Errc::argument, mapped.why_not);
  check_numbers(device.granularity(number), bytes, aliases);
  std::ranges::sort(aliases, {}, &Alias::at);
  std::set<Bytes> cuts{bytes};
  for (const Alias& alias : aliases) cuts.insert({alias.of, alias.of + alias.bytes});

  Parts parts(device, number);
  const auto fill = [&](Bytes begin, Bytes end) {
    while (begin < end) {
      const Bytes next = std::min(end, *cuts.upper_bound(begin));
      physical_ += parts.add(begin, next);
      begin = next;
    }
  };
  Bytes end = 0;
  for (const Alias& alias : aliases) {
    if (alias.at < end) fail(Errc::argument, "two aliases have the byte at ", alias.at);
    fill(end, alias.at);
    end = alias.at + alias.bytes;
  }
  fill(end, bytes);

  std::vector<DeviceRegion> shown;
  end = 0;
  for (const Alias& alias : aliases) {
    parts.append(end, alias.at, shown);
    parts.append(alias.of, alias.of + alias.bytes, shown);
    end = alias.at + alias.bytes;
  }
  parts.append(end, bytes, shown);
  mappings_ = shown.size();
  base_ = device.map_regions(shown);
}

AliasedMemory::~AliasedMemory() {
  (void)error_of([&] { device_.free(base_); });
}

}  // namespace tonari
