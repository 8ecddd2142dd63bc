// SPDX-License-Identifier: BSD-3-Clause
// What the program lists to make a vector: which values this rank owns, which it needs, and where
// they lie in its arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "planners/graphs/bsp_comm.hpp"
#include "vector/owned_ranges.hpp"

namespace tonari {

// Indices of values, and where each of them goes in `ghosts`; no places: in this order.
struct ListedNeeds {
  std::vector<std::int64_t> indices, places = {};
};

class VectorLists {
 public:
  virtual ~VectorLists() = default;

  // Local. Throws Errc::argument.
  virtual void check(int ranks) const = 0;
  // The values that the array `owned` has room for are own indices. Unless the program numbers them
  // (own_range), the library does: rank by rank.
  virtual std::int64_t owned() const = 0;
  virtual std::optional<OwnedRange> own_range() const { return std::nullopt; }
  // Collective, in the communicator's scope: what this rank needs.
  virtual ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const = 0;
  // Whether the program lists places: owned and ghosts may then lie anywhere in one array.
  virtual bool lists_places() const { return true; }
};

// One past the largest.
std::int64_t length_of(Numbers places, std::int64_t count);
// Throws Errc::argument unless all are in 0, ..., length - 1; name: of the argument.
void check_places(Numbers places, std::int64_t count, std::int64_t length, const char* name,
                  const std::string& why);
// Two positions of one place, or of one id, if there are.
struct RepeatedPlace {
  std::int64_t place, first, second;
};
std::optional<RepeatedPlace> find_repeat(const std::vector<std::int64_t>& places);

// Throws Errc::argument if `count` is negative, or `list` is NULL but `count` is not 0.
void check_list(std::int64_t count, const char* count_name, const void* list,
                const char* list_name);

}  // namespace tonari
