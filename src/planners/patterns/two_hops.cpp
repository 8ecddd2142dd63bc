// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/two_hops.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.hpp"

namespace tonari {

TwoHops::TwoHops(const CommunicationMatrix& matrix, std::span<const std::int32_t> via)
    : matrix_(matrix),
      ranks_(matrix.ranks()),
      open_(ranks_),
      lists_(matrix, 2),
      sent_(static_cast<std::size_t>(ranks_), 0),
      received_(sent_) {
  for (int stage : {0, 1}) {
    out_[stage].resize(static_cast<std::size_t>(ranks_));
    in_[stage].resize(static_cast<std::size_t>(ranks_));
  }
  for (auto* sides : {&out_, &in_})
    for (auto& side : *sides)
      for (std::vector<Neighbor>& neighbors : side) neighbors.reserve(16);
  std::vector<EdgeNumber> mark(static_cast<std::size_t>(ranks_), no_edge);
  const auto put = [&](BlockNumber b, const Edge& edge, int x) {
    if (mark[x] == no_edge) {
      mark[x] = list(edge);
      use(edge);
    }
    lists_.enter(b, edge.second, mark[x]);
  };
  for (int rank = 0; rank < ranks_; ++rank) {
    for (BlockNumber b : matrix.row(rank))
      if (const int x = via[b]; x != rank) put(b, {false, rank, x}, x);
    for (const Neighbor& n : out_[0][rank]) mark[n.rank] = no_edge;
    for (BlockNumber b : matrix.column(rank))
      if (const int x = via[b]; x != rank) put(b, {true, x, rank}, x);
    for (const Neighbor& n : in_[1][rank]) mark[n.rank] = no_edge;
  }
}

EdgeNumber TwoHops::list(const Edge& edge) {
  const EdgeNumber e = lists_.add(edge.from);
  edges_.push_back(edge);
  out_[edge.second][edge.from].push_back({edge.to, e});
  in_[edge.second][edge.to].push_back({edge.from, e});
  return e;
}

void TwoHops::unlist(EdgeNumber e) {
  const Edge& edge = edges_[e];
  for (std::vector<Neighbor>* side : {&out_[edge.second][edge.from], &in_[edge.second][edge.to]})
    side->erase(
        std::find_if(side->begin(), side->end(), [&](const Neighbor& n) { return n.edge == e; }));
}

void TwoHops::use(const Edge& edge) {
  open_.open(edge.second, edge.from, edge.to);
  ++sent_[edge.from];
  ++received_[edge.to];
}

void TwoHops::avoid(const Edge& edge) {
  open_.close(edge.second, edge.from, edge.to);
  --sent_[edge.from];
  --received_[edge.to];
}

EdgeNumber TwoHops::number(const Edge& edge) const {
  const std::vector<Neighbor>& side = out_[edge.second][edge.from];
  return std::find_if(side.begin(), side.end(),
                      [&](const Neighbor& n) { return n.rank == edge.to; })
      ->edge;
}

// An edge whose opening makes a way from a to t, with ends that have less than `most`; the least
// busy such ones.
bool TwoHops::find_missing(int a, int t, int most, const Edge& barred, Edge& missing) {
  int best = most;
  const auto offer = [&](const Edge& edge) {
    const int busy = std::max(sent_[edge.from], received_[edge.to]);
    if (busy >= best || edge == barred) return;
    best = busy;
    missing = edge;
  };
  if (sent_[a] < best) {
    offer({false, a, t});
    for (const Neighbor& n : in_[1][t])
      if (open_.is_open(true, n.rank, t)) offer({false, a, n.rank});
  }
  if (received_[t] < best) {
    offer({true, a, t});
    for (const Neighbor& n : out_[0][a])
      if (open_.is_open(false, a, n.rank)) offer({true, n.rank, t});
  }
  steps_ += in_[1][t].size() + out_[0][a].size();
  return best < most;
}

void TwoHops::lead(BlockNumber b, std::int32_t via) {
  const std::int32_t a = matrix_.origin(b), t = matrix_.target(b);
  for (int stage : {0, 1}) {
    if (const EdgeNumber e = lists_.edge(b, stage); e != no_edge) left_.push_back(e);
    lists_.leave(b, stage);
  }
  if (via != a) lists_.enter(b, 0, number({false, a, via}));
  if (via != t) lists_.enter(b, 1, number({true, via, t}));
}

// Edges that have lost their last blocks.
void TwoHops::drop_left() {
  std::sort(left_.begin(), left_.end());
  left_.erase(std::unique(left_.begin(), left_.end()), left_.end());
  for (EdgeNumber e : left_) {
    if (!lists_.empty(e)) continue;
    avoid(edges_[e]);
    unlist(e);
  }
  left_.clear();
}

int TwoHops::most() const {
  int most = 0;
  for (int end = 0; end < 2 * ranks_; ++end) most = std::max(most, busy(end));
  return most;
}

std::size_t TwoHops::messages() const {
  return static_cast<std::size_t>(std::accumulate(sent_.begin(), sent_.end(), std::int64_t{0}));
}

void TwoHops::level(double most_words) {
  constexpr int most_tries = 3;
  for (int tries = 0; tries < most_tries;) {
    const int top = most();
    if (top < 2) return;
    if (lower(top, most_words)) continue;
    ++tries;
    lower(top - 1, most_words);  // those whose room was missing
  }
}

bool TwoHops::lower(int most, double most_words) {
  int stuck = 0;
  for (int end = 0; end < 2 * ranks_ && stuck < 32; ++end)
    while (busy(end) >= most)
      if (!relieve(end, most_words)) {
        ++stuck;
        break;
      }
  return stuck == 0;
}

bool TwoHops::relieve(int end, double most_words) {
  ranking_.clear();
  for (int stage : {0, 1})
    for (const Neighbor& n : end < ranks_ ? out_[stage][end] : in_[stage][end - ranks_])
      ranking_.emplace_back(lists_.words(n.edge), n.edge);
  const int most = busy(end);
  // those with few words first; mostly one of the first will do
  std::make_heap(ranking_.begin(), ranking_.end(), std::greater<>());
  for (; !ranking_.empty(); ranking_.pop_back()) {
    std::pop_heap(ranking_.begin(), ranking_.end(), std::greater<>());
    if (replace(ranking_.back().second, most, most_words)) return true;
  }
  return false;
}

// Closes it and opens others where blocks have no way, between ranks that have then less than
// `most` edges.
bool TwoHops::replace(EdgeNumber old, int most, double most_words) {
  constexpr std::size_t most_opened = 64;
  const Edge edge = edges_[old];
  avoid(edge);
  lists_.blocks(old, moving_);
  detours_.clear();
  opened_.clear();
  double more = 0;
  for (BlockNumber b : moving_) {
    const int a = matrix_.origin(b), t = matrix_.target(b);
    std::int32_t via = open_.find(a, t, lists_.words_sent());
    ++steps_;
    if (Edge missing;
        via < 0 && opened_.size() < most_opened && find_missing(a, t, most - 1, edge, missing)) {
      opened_.push_back(missing);
      use(missing);
      via = open_.find(a, t, lists_.words_sent());
    }
    const int hops = via == a || via == t ? 1 : 2;
    more += (hops - lists_.hops(b)) * static_cast<double>(matrix_.words(b));
    if (via < 0 || lists_.all_words() + more > most_words) {
      for (const Edge& e : opened_) avoid(e);
      use(edge);
      return false;
    }
    detours_.push_back(via);
  }
  for (const Edge& e : opened_) list(e);
  for (std::size_t k = 0; k < moving_.size(); ++k) lead(moving_[k], detours_[k]);
  use(edge);  // until now
  drop_left();
  return true;
}

void TwoHops::shorten(double price) {
  for (BlockNumber b = 0; b < matrix_.blocks(); ++b)  // edges opened later than it was led
    if (const int a = matrix_.origin(b), t = matrix_.target(b);
        lists_.hops(b) > 1 && (open_.is_open(false, a, t) || open_.is_open(true, a, t)))
      lead(b, open_.find(a, t, lists_.words_sent()));
  drop_left();
  const int limit = most();
  std::vector<std::pair<double, BlockNumber>> savings;
  for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
    if (const double saved = (lists_.hops(b) - 1) * static_cast<double>(matrix_.words(b));
        saved > price)
      savings.emplace_back(-saved, b);
  std::sort(savings.begin(), savings.end());
  for (const auto& [saved, b] : savings) {
    const int a = matrix_.origin(b), t = matrix_.target(b);
    if (sent_[a] >= limit || received_[t] >= limit) continue;
    const int stage = (a + t) % 2;
    list({stage == 1, a, t});
    use({stage == 1, a, t});
    lead(b, stage == 0 ? t : a);
    drop_left();
  }
}

std::vector<BlockHop> TwoHops::hops() const {
  std::vector<BlockHop> all;
  all.reserve(2 * matrix_.blocks());
  for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
    for (int stage : {0, 1})
      if (const EdgeNumber e = lists_.edge(b, stage); e != no_edge)
        all.push_back({stage, edges_[e].from, edges_[e].to, b});
  return all;
}

}  // namespace tonari
