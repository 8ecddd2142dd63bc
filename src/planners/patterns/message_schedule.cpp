// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/message_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace tonari {
namespace {

// Stable, in time linear in the number of hops and of values, 0 <= value < values.
template <class Key>
void sort_by(std::vector<BlockHop>& hops, std::vector<BlockHop>& spare, std::size_t values,
             Key key) {
  std::vector<std::size_t> place(values + 1, 0);
  for (const BlockHop& hop : hops) ++place[key(hop) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  spare.resize(hops.size());
  for (const BlockHop& hop : hops) spare[place[key(hop)]++] = hop;
  hops.swap(spare);
}

void sort_hops(std::vector<BlockHop>& hops, std::size_t ranks) {
  std::int32_t stages = 0;
  bool ascending = true;  // blocks; most planners go through them in order
  for (std::size_t k = 0; k < hops.size(); ++k) {
    stages = std::max(stages, hops[k].stage + 1);
    ascending = ascending && (k == 0 || hops[k - 1].block <= hops[k].block);
  }
  if (!ascending)
    std::sort(hops.begin(), hops.end(),
              [](const BlockHop& a, const BlockHop& b) { return a.block < b.block; });
  std::vector<BlockHop> spare;
  sort_by(hops, spare, ranks, [](const BlockHop& hop) { return hop.to; });
  sort_by(hops, spare, ranks, [](const BlockHop& hop) { return hop.from; });
  sort_by(hops, spare, static_cast<std::size_t>(stages),
          [](const BlockHop& hop) { return hop.stage; });
}

// Follows the blocks through the stages: how many end at their targets. What a message takes along
// without having it gets nowhere.
double delivered(const MessageSchedule& schedule, const CommunicationMatrix& matrix) {
  struct Place {
    std::int32_t rank, stage;  // in which the block came there
  };
  std::vector<Place> place(matrix.blocks());
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) place[b] = {matrix.origin(b), -1};
  for (const CombinedMessage& m : schedule.messages())
    for (BlockNumber b : schedule.blocks(m))
      if (place[b].rank == m.from && place[b].stage < m.stage) place[b] = {m.to, m.stage};
  std::size_t arrived = 0;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) arrived += place[b].rank == matrix.target(b);
  return matrix.blocks() == 0 ? 1
                              : static_cast<double>(arrived) / static_cast<double>(matrix.blocks());
}

double ratio(std::uint64_t value, std::uint64_t of) {
  return of == 0 ? 1 : static_cast<double>(value) / static_cast<double>(of);
}

}  // namespace

MessageSchedule::MessageSchedule(const CommunicationMatrix& matrix, std::vector<BlockHop> hops)
    : ranks_(matrix.ranks()) {
  sort_hops(hops, static_cast<std::size_t>(ranks_));
  blocks_.reserve(hops.size());
  for (const BlockHop& hop : hops) {
    if (messages_.empty() || messages_.back().stage != hop.stage ||
        messages_.back().from != hop.from || messages_.back().to != hop.to)
      messages_.push_back(
          {hop.stage, hop.from, hop.to, static_cast<std::uint32_t>(blocks_.size()), 0});
    blocks_.push_back(hop.block);
    ++messages_.back().count;
  }
}

ScheduleMetrics MessageSchedule::metrics(const CommunicationMatrix& matrix) const {
  ScheduleMetrics all;
  all.sent.assign(static_cast<std::size_t>(ranks_), 0);
  all.received = all.sent;
  all.words_sent.assign(static_cast<std::size_t>(ranks_), 0);
  all.words_received = all.words_sent;
  all.stages = stages();
  std::uint64_t words = 0, most_out = 0, most_in = 0;
  for (const CombinedMessage& m : messages_) {
    ++all.sent[m.from];
    ++all.received[m.to];
    for (BlockNumber b : blocks(m)) {
      all.words_sent[m.from] += matrix.words(b);
      all.words_received[m.to] += matrix.words(b);
      words += matrix.words(b);
    }
  }
  for (int r = 0; r < ranks_; ++r) {
    all.most_sent = std::max(all.most_sent, all.sent[r]);
    all.most_received = std::max(all.most_received, all.received[r]);
    most_out = std::max(most_out, all.words_sent[r]);
    most_in = std::max(most_in, all.words_received[r]);
  }
  const MatrixStatistics direct = matrix.statistics();
  if (ranks_ > 0) all.average_sent = static_cast<double>(messages_.size()) / ranks_;
  all.words = ratio(words, direct.words);
  all.most_words_sent = ratio(most_out, direct.most_words_sent);
  all.most_words_received = ratio(most_in, direct.most_words_received);
  all.delivered = delivered(*this, matrix);
  return all;
}

MessageSchedule direct_schedule(const CommunicationMatrix& matrix) {
  std::vector<BlockHop> hops(matrix.blocks());
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    hops[b] = {0, matrix.origin(b), matrix.target(b), b};
  return MessageSchedule(matrix, std::move(hops));
}

std::string schedule_text(const CommunicationMatrix& matrix, const MessageSchedule& schedule) {
  std::string all =
      text("tonari schedule 1\nranks ", matrix.ranks(), "\n# stage from to: blocks\n");
  for (const CombinedMessage& m : schedule.messages()) {
    all += text(m.stage, ' ', m.from, ' ', m.to, ':');
    for (BlockNumber b : schedule.blocks(m))
      all += ' ' + std::to_string(matrix.origin(b)) + '-' + std::to_string(matrix.target(b));
    all += '\n';
  }
  return all;
}

}  // namespace tonari
