// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/split_stages.hpp"

#include <algorithm>
#include <utility>

#include "planners/patterns/two_stages.hpp"

namespace tonari {
namespace {

using Messages = std::span<const CombinedMessage>;

// By stage.
std::vector<Messages> stages_of(const MessageSchedule& schedule) {
  std::vector<Messages> all;
  const Messages messages = schedule.messages();
  for (std::size_t begin = 0; begin < messages.size();) {
    std::size_t end = begin;
    while (end < messages.size() && messages[end].stage == messages[begin].stage) ++end;
    all.push_back(messages.subspan(begin, end - begin));
    begin = end;
  }
  return all;
}

// Those with the most messages, `room` at most.
std::vector<bool> to_split(const std::vector<Messages>& stages, std::size_t room) {
  std::vector<std::size_t> order(stages.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stages[a].size() > stages[b].size();
  });
  std::vector<bool> chosen(stages.size(), false);
  for (std::size_t k = 0; k < std::min(room, order.size()); ++k) chosen[order[k]] = true;
  return chosen;
}

// Messages of a stage as blocks.
CommunicationMatrix pattern_of(const CommunicationMatrix& matrix, const MessageSchedule& schedule,
                               Messages messages) {
  std::vector<Flow> flows;
  for (const CombinedMessage& m : messages) {
    std::uint64_t words = 0;
    for (BlockNumber b : schedule.blocks(m)) words += matrix.words(b);
    flows.push_back({m.from, m.to, words});
  }
  return CommunicationMatrix(matrix.ranks(), flows);
}

class Splitter {
 public:
  Splitter(const CommunicationMatrix& matrix, const BalanceOptions& options)
      : matrix_(matrix), options_(options) {}

  MessageSchedule split(const MessageSchedule& schedule, std::size_t room) {
    const std::vector<Messages> stages = stages_of(schedule);
    const std::vector<bool> chosen = to_split(stages, room);
    spare_words_ = (options_.words - schedule.metrics(matrix_).words) *
                   static_cast<double>(matrix_.statistics().words);
    ways_.assign(matrix_.blocks(), {});
    std::int32_t stage = 0;
    for (std::size_t k = 0; k < stages.size(); ++k) {
      if (chosen[k])
        in_two(schedule, stages[k], stage);
      else
        for (const CombinedMessage& m : stages[k])
          for (BlockNumber b : schedule.blocks(m)) go(b, {stage, m.from, m.to, b});
      stage += chosen[k] ? 2 : 1;
    }
    return MessageSchedule(matrix_, hops());
  }

 private:
  void in_two(const MessageSchedule& schedule, Messages messages, std::int32_t stage) {
    const CommunicationMatrix pattern = pattern_of(matrix_, schedule, messages);
    const double words = static_cast<double>(pattern.statistics().words);
    BalanceOptions options{2, options_.price};
    if (words > 0) options.words = 1 + std::max(spare_words_, 0.0) / words;
    const MessageSchedule found = over_two_stages(pattern, options);
    spare_words_ -= (found.metrics(pattern).words - 1) * words;
    for (const CombinedMessage& m : found.messages())
      for (BlockNumber message : found.blocks(m))
        // blocks of a pattern are in the order of messages
        for (BlockNumber b : schedule.blocks(messages[message]))
          go(b, {stage + m.stage, m.from, m.to, b});
  }

  // Where it would pass a rank twice, what lies between is left out.
  void go(BlockNumber b, const BlockHop& hop) {
    std::vector<BlockHop>& way = ways_[b];
    if (!way.empty() && way.back().to == matrix_.target(b)) return;
    way.erase(std::find_if(way.begin(), way.end(),
                           [&](const BlockHop& before) { return before.from == hop.from; }),
              way.end());
    way.push_back(hop);
  }

  std::vector<BlockHop> hops() const {
    std::vector<BlockHop> all;
    for (const std::vector<BlockHop>& way : ways_) all.insert(all.end(), way.begin(), way.end());
    return all;
  }

  const CommunicationMatrix& matrix_;
  BalanceOptions options_;
  double spare_words_ = 0;
  std::vector<std::vector<BlockHop>> ways_;  // by block
};

}  // namespace

MessageSchedule split_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                             MessageSchedule schedule) {
  for (int stages = schedule.stages(); stages > 0 && stages < options.stages;) {
    MessageSchedule more = Splitter(matrix, options)
                               .split(schedule, static_cast<std::size_t>(options.stages - stages));
    if (more.stages() <= stages) break;
    schedule = std::move(more);
    stages = schedule.stages();
  }
  return schedule;
}

}  // namespace tonari
