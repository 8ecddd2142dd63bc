// SPDX-License-Identifier: BSD-3-Clause
// The ranks that each block passes, and how routes become messages.
#pragma once

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// One route per block of a matrix, added in the order of the blocks.
class Routes {
 public:
  // via: where the block goes, from its origin on to its target. Detours that come back to a rank
  // are cut out; so every rank is passed once at most.
  void add(std::span<const std::int32_t> via);

  std::size_t size() const { return begin_.size() - 1; }
  std::span<const std::int32_t> operator[](BlockNumber b) const {
    return std::span(ranks_).subspan(begin_[b], begin_[b + 1] - begin_[b]);
  }

  // Whether combine() may lead blocks over one rank more, so that no rank sends a little more than
  // the average (rebalanced.hpp).
  void allow_detours() { detours_ = true; }
  bool detours() const { return detours_; }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> ranks_;
  bool detours_ = false;
};

// As few messages as these routes allow, mostly one per pair of ranks: it leaves when the last of
// its blocks is there. Messages may then wait for each other in a circle (a -> b for c -> a for b
// -> c for a -> b). Where all messages left wait, one of a circle goes in two parts, that of the
// rank that sends the fewest: what is there goes at once. Where routes allow detours the schedule
// is rebalanced in the end.
MessageSchedule combine(const CommunicationMatrix& matrix, const Routes& routes);

}  // namespace tonari
