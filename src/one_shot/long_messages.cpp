// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/long_messages.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace tonari {

bool LongMessages::begin(Bytes longest) {
  ++calls_;
  trying_ = nullptr;
  if (longest < least || longest >= most) return false;
  Size& size = sizes_[static_cast<std::size_t>(std::bit_width(longest) - std::bit_width(least))];
  if (decided(size)) return *size.reads;
  trying_ = &size;
  // The two come in no order, since programs may call exchanges in turn.
  return reads_ = Hash().word(sample_ == Sample::call ? calls_ : turn()).value() & 1;
}

bool LongMessages::decided(Size& size) const {
  if (size.reads && ++size.calls > calls_between()) size = {};
  return size.reads.has_value();
}

void LongMessages::took(Clock::duration time) {
  add_call(trying_->protocols[reads_], time);
  const auto& [parts, read] = trying_->protocols;
  if (parts.enough() && read.enough()) trying_->reads = reading_pays(*trying_);
  trying_ = nullptr;
}

void LongMessages::add_call(Protocol& protocol, Clock::duration time) const {
  if (sample_ == Sample::call) {
    if (protocol.calls++ > 0) protocol.add(time);  // the first one also touches pages
    return;
  }
  if (protocol.turn != turn()) protocol.end_turn(), protocol.turn = turn();
  (protocol.calls++ == 0 ? protocol.first : protocol.others) += time;
}

void LongMessages::Protocol::add(Clock::duration time) {
  if (!enough()) times[known++] = time;
}

// Between other calls of the program, a turn may have a single one of this length.
void LongMessages::Protocol::end_turn() {
  if (calls > 0) add(calls == 1 ? first : others / (calls - 1));
  calls = 0, first = others = {};
}

// Ranks whose turns took about the same must not choose differently, since a sender of what is read
// waits for its receiver. So where they share cores, there must be more to win.
bool LongMessages::reading_pays(Size& size) const {
  auto& [parts, read] = size.protocols;
  if (sample_ == Sample::call)
    return *std::ranges::min_element(read.times) < *std::ranges::min_element(parts.times);
  for (Protocol* protocol : {&parts, &read}) std::ranges::sort(protocol->times);
  return 8 * read.times[samples / 2] < 7 * parts.times[samples / 2];
}

}  // namespace tonari
