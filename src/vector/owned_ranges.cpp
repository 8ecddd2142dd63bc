// SPDX-License-Identifier: BSD-3-Clause
#include "vector/owned_ranges.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"

namespace tonari {
namespace {

constexpr const char* advice = "the ranges of all ranks together must be 0 to N-1, each index once";

std::string owns(const OwnedRanges::Part& part) {
  return text("rank ", part.rank, " owns indices ", part.first, " to ", part.end - 1);
}

}  // namespace

OwnedRanges::OwnedRanges(const std::vector<OwnedRange>& by_rank) {
  for (std::size_t r = 0; r < by_rank.size(); ++r)
    if (by_rank[r].count > 0)
      parts_.push_back(
          {by_rank[r].first, by_rank[r].first + by_rank[r].count, static_cast<std::int32_t>(r)});
  std::ranges::sort(parts_, [](const Part& a, const Part& b) {
    return a.first != b.first ? a.first < b.first : a.rank < b.rank;
  });
  if (!parts_.empty() && parts_.front().first != 0)
    fail(Errc::argument, "nobody owns index 0: ", owns(parts_.front()),
         ", and no range lies below; ", advice);
  for (std::size_t k = 1; k < parts_.size(); ++k) {
    const Part &before = parts_[k - 1], &part = parts_[k];
    if (part.first < before.end)
      fail(Errc::argument, "index ", part.first, " has two owners: ", owns(before), ", ",
           owns(part), "; ", advice);
    if (part.first > before.end)
      fail(Errc::argument, "nobody owns index ", before.end, ": ", owns(before),
           ", and the next is ", owns(part), "; ", advice);
  }
}

const OwnedRanges::Part& OwnedRanges::part_of(std::int64_t index) const {
  return *std::prev(std::ranges::upper_bound(parts_, index, {}, &Part::first));
}

}  // namespace tonari
