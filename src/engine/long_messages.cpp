// SPDX-License-Identifier: BSD-3-Clause
#include "engine/long_messages.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"

namespace tonari {

bool LongMessages::begin(Bytes longest) {
  ++calls_;
  trying_ = nullptr;
  if (longest < least || longest >= most) return false;
  Size& size = sizes_[static_cast<std::size_t>(std::bit_width(longest) - std::bit_width(least))];
  if (decided(size)) return *size.reads;
  trying_ = &size;
  // in no order: programs may call exchanges in turn
  return reads_ = Hash().word(calls_).value() & 1;
}

bool LongMessages::decided(Size& size) {
  if (size.reads && ++size.calls > calls_between) size = {};
  return size.reads.has_value();
}

void LongMessages::took(Clock::duration time) {
  Way& way = trying_->ways[reads_];
  if (way.calls++ > 0) way.best = std::min(way.best, time);  // the first one also touches pages
  const auto& [parts, read] = trying_->ways;
  if (parts.calls > samples && read.calls > samples) trying_->reads = read.best < parts.best;
  trying_ = nullptr;
}

}  // namespace tonari
