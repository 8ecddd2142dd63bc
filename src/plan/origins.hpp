// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a block on this rank come from, for those who need no copy of it on the way: a
// block that is passed on lies where it arrived.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tonari {

struct Origin {
  OpId recv = foreign;      // the message that brings it; foreign: it is a block to send
  std::uint32_t slice = 0;  // its number in that message, or among the blocks to send
  bool arrives() const { return recv != foreign; }
};

// A message with this tag passes on what one with the other tag has brought.
struct TagOrder {
  std::int32_t before, after;
};

class Origins {
 public:
  // Throws Errc::argument for a plan that writes a block twice, or swaps blocks.
  explicit Origins(const Plan& plan);

  Origin of(Slice slice) const;
  // Without repeats, ascending.
  std::vector<TagOrder> tag_orders() const;

 private:
  void write(Slice slice, Origin origin);

  const Plan& plan_;
  std::map<std::pair<Buffer, std::uint32_t>, Origin> of_;
};

}  // namespace tonari
