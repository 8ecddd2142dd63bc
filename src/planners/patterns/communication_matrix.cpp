// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/communication_matrix.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace tonari {
namespace {

void check(int ranks, const Flow& flow) {
  for (std::int32_t rank : {flow.from, flow.to})
    if (rank < 0 || rank >= ranks)
      fail(Errc::argument, "a communication matrix of ", ranks, " ranks has an entry from ",
           flow.from, " to ", flow.to, ": give ranks from 0 to ", ranks - 1);
}

// Row by row, targets ascending: two stable passes of counting instead of sorting.
std::vector<Flow> sorted(int ranks, std::span<const Flow> flows) {
  std::vector<Flow> from(flows.begin(), flows.end()), to(flows.size());
  for (std::int32_t Flow::* key : {&Flow::to, &Flow::from}) {
    std::vector<std::size_t> place(static_cast<std::size_t>(ranks) + 1, 0);
    for (const Flow& flow : from) ++place[flow.*key + 1];
    for (int r = 0; r < ranks; ++r) place[r + 1] += place[r];
    for (const Flow& flow : from) to[place[flow.*key]++] = flow;
    from.swap(to);
  }
  return from;
}

}  // namespace

CommunicationMatrix::CommunicationMatrix(int ranks, std::span<const Flow> flows) {
  if (ranks < 0)
    fail(Errc::argument, "a communication matrix of ", ranks, " ranks: give 0 or more");
  for (const Flow& flow : flows) check(ranks, flow);
  row_begin_.assign(static_cast<std::size_t>(ranks) + 1, 0);
  column_begin_ = row_begin_;
  std::uint64_t all = 0;
  for (const Flow& flow : sorted(ranks, flows)) {
    if (flow.from == flow.to) continue;
    all = checked_add(all, flow.words, "words of a communication matrix");
    if (!target_.empty() && origin_.back() == flow.from && target_.back() == flow.to) {
      words_.back() += flow.words;
      continue;
    }
    if (target_.size() == none)
      fail(Errc::overflow, "a communication matrix has more than ", none, " entries");
    origin_.push_back(flow.from);
    target_.push_back(flow.to);
    words_.push_back(flow.words);
    ++row_begin_[flow.from + 1];
    ++column_begin_[flow.to + 1];
  }
  for (int r = 0; r < ranks; ++r) {
    row_begin_[r + 1] += row_begin_[r];
    column_begin_[r + 1] += column_begin_[r];
  }
  column_.resize(blocks());
  std::vector<BlockNumber> place = column_begin_;
  for (BlockNumber b = 0; b < blocks(); ++b) column_[place[target_[b]]++] = b;
}

BlockNumber CommunicationMatrix::find(int from, int to) const {
  const auto row = targets(from);
  const auto place = std::lower_bound(row.begin(), row.end(), to);
  return place != row.end() && *place == to
             ? row_begin_[from] + static_cast<BlockNumber>(place - row.begin())
             : none;
}

MatrixStatistics CommunicationMatrix::statistics() const {
  MatrixStatistics all;
  std::vector<std::uint64_t> in(static_cast<std::size_t>(ranks()), 0), out = in;
  for (BlockNumber b = 0; b < blocks(); ++b) {
    out[origin_[b]] += words_[b];
    in[target_[b]] += words_[b];
    all.words += words_[b];
  }
  for (int r = 0; r < ranks(); ++r) {
    all.most_sent = std::max(all.most_sent, sent_by(r));
    all.most_received = std::max(all.most_received, static_cast<int>(column(r).size()));
    all.most_words_sent = std::max(all.most_words_sent, out[r]);
    all.most_words_received = std::max(all.most_words_received, in[r]);
  }
  if (ranks() > 0) all.average_sent = static_cast<double>(blocks()) / ranks();
  return all;
}

}  // namespace tonari
