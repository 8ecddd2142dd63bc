// SPDX-License-Identifier: BSD-3-Clause
#include "vector/range_lists.hpp"

#include <limits>

#include "base/error.hpp"

namespace tonari {

void RangeLists::check(int /*ranks*/) const {
  if (own_.count < 0) fail(Errc::argument, "`owned` is ", own_.count, "; it must not be negative");
  if (own_.count > 0 && own_.first < 0)
    fail(Errc::argument, "`first` is ", own_.first, "; indices begin at 0");
  if (own_.count > 0 && own_.first > std::numeric_limits<std::int64_t>::max() - own_.count)
    fail(Errc::argument, "`first` + `owned` is ", own_.first, " + ", own_.count,
         ", which does not fit in 64 bits");
  if (needed_ < 0) fail(Errc::argument, "`needed` is ", needed_, "; it must not be negative");
  if (needed_ > 0 && !indices_)
    fail(Errc::argument, "`indices` is NULL, but ", needed_, " are needed");
}

ListedNeeds RangeLists::needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange /*own*/) const {
  const std::int64_t size = ranges.size();
  for (std::int64_t k = 0; k < needed_; ++k)
    if (indices_[k] < 0 || indices_[k] >= size)
      fail(Errc::argument, "rank ", bsp.here()[0], " needs index ", indices_[k], " (position ", k,
           " of its list), but ",
           size == 0 ? text("nobody owns any") : text("indices go from 0 to ", size - 1));
  return {{indices_, indices_ + needed_}};
}

}  // namespace tonari
