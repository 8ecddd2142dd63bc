#include "sharing/two_hops.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace tonari {

TwoHops::TwoHops(const CommunicationMatrix& matrix, std::span<const std::int32_t> via)
    : matrix_(matrix), ranks_(matrix.ranks()), lists_(matrix, 2), sent_(static_cast<std::size_t>(ranks_), 0), received_(sent_), mark_(static_cast<std::size_t>(ranks_), no_edge) {
  for (int stage : {0, 1}) {
    out_[stage].resize(static_cast<std::size_t>(ranks_));
    in_[stage].resize(static_cast<std::size_t>(ranks_));
  }
  for (int rank = 0; rank < ranks_; ++rank) {
    for (BlockNumber b : matrix.row(rank))
      if (const int x = via[b]; x != rank) lists_.enter(b, 0, mark_[x] == no_edge ? mark_[x] = open(0, rank, x) : mark_[x]);
    for (EdgeNumber e : out_[0][rank]) mark_[edges_[e].to] = no_edge;
    for (BlockNumber b : matrix.column(rank))
      if (const int x = via[b]; x != rank) lists_.enter(b, 1, mark_[x] == no_edge ? mark_[x] = open(1, x, rank) : mark_[x]);
    for (EdgeNumber e : in_[1][rank]) mark_[edges_[e].from] = no_edge;
  }
}

EdgeNumber TwoHops::open(int stage, int from, int to) {
  const EdgeNumber e = lists_.add(from);
  edges_.push_back({from, to, stage == 1, false});
  out_[stage][from].push_back(e);
  in_[stage][to].push_back(e);
  count(from, to, 1);
  return e;
}

void TwoHops::close(EdgeNumber e) {
  edges_[e].gone = true;
  count(edges_[e].from, edges_[e].to, -1);
}

void TwoHops::count(int from, int to, int by) {
  sent_[from] += by;
  received_[to] += by;
}

std::vector<EdgeNumber>& TwoHops::tidy(std::vector<EdgeNumber>& edges) {
  steps_ += edges.size();
  std::erase_if(edges, [&](EdgeNumber e) { return edges_[e].gone; });
  return edges;
}

// Where both ends may choose the stage of a single edge they take turns, so that both stages are in use.
TwoHops::Way TwoHops::find(int a, int t) {
  const auto& last = tidy(in_[1][t]);
  for (EdgeNumber f : last)
    if (f != barred_) mark_[edges_[f].from] = f;
  const std::span<const std::uint64_t> words_sent = lists_.words_sent();
  Way best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  EdgeNumber direct = no_edge;
  for (EdgeNumber e : tidy(out_[0][a])) {
    if (e == barred_) continue;
    const int via = edges_[e].to;
    if (via == t) direct = e;
    if (mark_[via] == no_edge || words_sent[via] >= least) continue;
    least = words_sent[via];
    best = {e, mark_[via]};
  }
  const EdgeNumber other = mark_[a];
  for (EdgeNumber f : last) mark_[edges_[f].from] = no_edge;
  if (direct != no_edge && (other == no_edge || (a + t) % 2 == 0)) return {direct, no_edge};
  if (other != no_edge) return {no_edge, other};
  return best;
}

// An edge whose opening makes a way from a to t, with ends that have less than `most`; the least busy such ones.
bool TwoHops::find_missing(int a, int t, int most, EdgeNumber& opened) {
  int best = most, stage = -1, from = 0, to = 0;
  const auto offer = [&](int s, int tail, int head) {
    const int busy = std::max(sent_[tail], received_[head]);
    if (busy >= best || (s == edges_[barred_].second && tail == edges_[barred_].from && head == edges_[barred_].to)) return;
    best = busy;
    stage = s;
    from = tail;
    to = head;
  };
  if (sent_[a] < best) {
    offer(0, a, t);
    for (EdgeNumber f : tidy(in_[1][t])) if (f != barred_) offer(0, a, edges_[f].from);
  }
  if (received_[t] < best) {
    offer(1, a, t);
    for (EdgeNumber e : tidy(out_[0][a])) if (e != barred_) offer(1, edges_[e].to, t);
  }
  if (stage < 0) return false;
  opened = open(stage, from, to);
  return true;
}

void TwoHops::lead(BlockNumber b, Way way) {
  lists_.leave(b, 0);
  lists_.leave(b, 1);
  if (way.first != no_edge) lists_.enter(b, 0, way.first);
  if (way.second != no_edge) lists_.enter(b, 1, way.second);
}

int TwoHops::most() const {
  int most = 0;
  for (int end = 0; end < 2 * ranks_; ++end) most = std::max(most, busy(end));
  return most;
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
  std::vector<std::pair<std::uint64_t, EdgeNumber>> edges;  // those with few words first
  for (int stage : {0, 1})
    for (EdgeNumber e : tidy(end < ranks_ ? out_[stage][end] : in_[stage][end - ranks_])) edges.emplace_back(lists_.words(e), e);
  std::sort(edges.begin(), edges.end());
  const int most = busy(end);
  return std::any_of(edges.begin(), edges.end(), [&](const auto& edge) { return replace(edge.second, most, most_words); });
}

// Closes it and opens others where blocks have no way, between ranks that have then less than `most` edges.
bool TwoHops::replace(EdgeNumber old, int most, double most_words) {
  constexpr std::size_t most_opened = 64;
  barred_ = old;
  count(edges_[old].from, edges_[old].to, -1);
  const std::vector<BlockNumber> blocks = lists_.blocks(old);
  detours_.resize(std::max(detours_.size(), blocks.size()));
  std::vector<EdgeNumber> opened;
  double more = 0;
  bool found = true;
  for (std::size_t k = 0; found && k < blocks.size(); ++k) {
    const int a = matrix_.origin(blocks[k]), t = matrix_.target(blocks[k]);
    detours_[k] = find(a, t);
    if (detours_[k].hops() == 0) {
      EdgeNumber e = no_edge;
      if (opened.size() == most_opened || !find_missing(a, t, most - 1, e)) {
        found = false;
        break;
      }
      opened.push_back(e);
      detours_[k] = find(a, t);
    }
    more += (detours_[k].hops() - lists_.hops(blocks[k])) * static_cast<double>(matrix_.words(blocks[k]));
    found = lists_.all_words() + more <= most_words;
  }
  barred_ = no_edge;
  if (!found) {
    for (EdgeNumber e : opened) close(e);
    count(edges_[old].from, edges_[old].to, 1);
    return false;
  }
  for (std::size_t k = 0; k < blocks.size(); ++k) lead(blocks[k], detours_[k]);
  edges_[old].gone = true;
  return true;
}

void TwoHops::shorten(double price) {
  const int limit = most();
  std::vector<std::pair<double, BlockNumber>> savings;
  for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
    if (const double saved = (lists_.hops(b) - 1) * static_cast<double>(matrix_.words(b)); saved > price) savings.emplace_back(-saved, b);
  std::sort(savings.begin(), savings.end());
  for (const auto& [saved, b] : savings) {
    const int a = matrix_.origin(b), t = matrix_.target(b);
    if (sent_[a] >= limit || received_[t] >= limit) continue;
    const int stage = (a + t) % 2;
    const EdgeNumber e = open(stage, a, t);
    lead(b, stage == 0 ? Way{e, no_edge} : Way{no_edge, e});
  }
}

std::vector<BlockHop> TwoHops::hops() const {
  std::vector<BlockHop> all;
  for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
    for (int stage : {0, 1})
      if (const EdgeNumber e = lists_.edge(b, stage); e != no_edge) all.push_back({stage, edges_[e].from, edges_[e].to, b});
  return all;
}

}  // namespace tonari
