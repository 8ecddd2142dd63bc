// SPDX-License-Identifier: BSD-3-Clause
// Tells which rank owns which indices: one range per rank, known to all.
#pragma once

#include <cstdint>
#include <vector>

namespace tonari {

struct OwnedRange {
  std::int64_t first = 0, count = 0;
};

class OwnedRanges {
 public:
  struct Part {
    std::int64_t first, end;
    std::int32_t rank;
  };

  OwnedRanges() = default;
  // By rank; counts are not negative and first + count fits. Throws Errc::argument, the same on all
  // ranks, unless 0, ..., size() - 1 have one owner each.
  explicit OwnedRanges(const std::vector<OwnedRange>& by_rank);

  std::int64_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
  const Part& part_of(std::int64_t index) const;  // 0 <= index < size()

 private:
  std::vector<Part> parts_;  // ascending, none empty
};

}  // namespace tonari
