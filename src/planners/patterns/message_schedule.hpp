// SPDX-License-Identifier: BSD-3-Clause
// What every planner for irregular patterns returns: combined messages in stages, and which blocks
// each of them carries.
//
//   stage 0   M(a,b) = { m(a,b), m(a,t) }
//   stage 1   M(b,t) = { m(b,t), m(a,t) }
//
// M is a combined message (the capital M of Duymuş 2021, §2.3). It leaves when all its blocks are
// there, so it waits only for messages of earlier stages: no rank ever waits in a circle.
//
// Stages number the links of the longest chain; ranks do not wait for each other at their ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planners/patterns/communication_matrix.hpp"

namespace tonari {

// One step of one block on its way.
struct BlockHop {
  std::int32_t stage, from, to;
  BlockNumber block;
  friend bool operator==(const BlockHop&, const BlockHop&) = default;
};

struct CombinedMessage {
  std::int32_t stage, from, to;
  std::uint32_t first, count;  // of the schedule's list of blocks
};

// The cost of a schedule, and whether it is right.
struct ScheduleMetrics {
  std::vector<int> sent, received;  // messages, per rank, over all stages
  std::vector<std::uint64_t> words_sent, words_received;
  int stages = 0;
  double average_sent = 0;
  int most_sent = 0, most_received = 0;
  // all words sent, relative to sending them directly; likewise the busiest sender's and receiver's
  double words = 1;
  double most_words_sent = 1, most_words_received = 1;
  // share of blocks that are at their targets in the end, each rank passing on only what it has
  double delivered = 1;
};

class MessageSchedule {
 public:
  // All hops of one stage from one rank to another become one message. Hops in any order.
  MessageSchedule(const CommunicationMatrix& matrix, std::vector<BlockHop> hops);

  int stages() const { return messages_.empty() ? 0 : messages_.back().stage + 1; }
  // Ascending by stage, from, to.
  std::span<const CombinedMessage> messages() const { return messages_; }
  // Ascending.
  std::span<const BlockNumber> blocks(const CombinedMessage& m) const {
    return std::span(blocks_).subspan(m.first, m.count);
  }

  // of the matrix it was made for
  ScheduleMetrics metrics(const CommunicationMatrix& matrix) const;

 private:
  int ranks_;
  std::vector<CombinedMessage> messages_;
  std::vector<BlockNumber> blocks_;
};

MessageSchedule direct_schedule(const CommunicationMatrix& matrix);

// A schedule as text. A line is a message; a block is its origin and its target.
//
//   tonari schedule 1
//   ranks 4
//   # stage from to: blocks
//   0 0 1: 0-1 0-2
//   1 1 2: 0-2 1-2
//
// A message leaves when all its blocks are there, so what comes in a stage leaves in a later one.
// Messages ascend by stage, sender and receiver, and blocks by origin and target. Lines that begin
// with # say nothing.
std::string schedule_text(const CommunicationMatrix& matrix, const MessageSchedule& schedule);

}  // namespace tonari
