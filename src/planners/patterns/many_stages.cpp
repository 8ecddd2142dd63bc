// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/many_stages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <queue>

#include "base/error.hpp"
#include "planners/patterns/block_lists.hpp"
#include "planners/patterns/choose_graph.hpp"

namespace tonari {
namespace {

// Edges by what they are, and which blocks take them.
class Paths {
 public:
  Paths(const CommunicationMatrix& matrix, int stages)
      : matrix_(matrix), stages_(stages), lists_(matrix, stages) {
    const std::size_t all = static_cast<std::size_t>(stages) * ranks() * ranks();
    if (all <= most_square) square_.assign(all, no_edge);
  }

  EdgeNumber number(const StagedEdge& e) {
    if (square_.empty()) return hashed(e);
    EdgeNumber& number =
        square_[(static_cast<std::size_t>(e.stage) * ranks() + static_cast<std::size_t>(e.from)) *
                    ranks() +
                static_cast<std::size_t>(e.to)];
    if (number == no_edge) number = add(e);
    return number;
  }
  // Makes room for this many edges.
  void expect(std::size_t edges) {
    if (!square_.empty()) return;
    table_.assign(std::bit_ceil(2 * edges + 2), no_edge);
    for (EdgeNumber e = 0; e < edges_.size(); ++e) table_[place_of(edges_[e])] = e;
  }

  const StagedEdge& edge(EdgeNumber e) const { return edges_[e]; }
  std::size_t edges() const { return edges_.size(); }
  const BlockLists& lists() const { return lists_; }

  void lead(BlockNumber b, std::span<const StagedEdge> path) {
    for (int k = 0; k < stages_; ++k) lists_.leave(b, k);
    for (const StagedEdge& e : path) lists_.enter(b, e.stage, number(e));
  }

  std::vector<BlockHop> hops() const {
    std::vector<BlockHop> all;
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
      for (int k = 0; k < stages_; ++k)
        if (const EdgeNumber e = lists_.edge(b, k); e != no_edge)
          all.push_back({k, edges_[e].from, edges_[e].to, b});
    return all;
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(matrix_.ranks()); }
  EdgeNumber add(const StagedEdge& e) {
    edges_.push_back(e);
    return lists_.add(e.from);
  }
  EdgeNumber hashed(const StagedEdge& e) {
    std::size_t place = place_of(e);
    if (table_[place] != no_edge) return table_[place];
    if (2 * (edges_.size() + 1) > table_.size()) {
      expect(2 * edges_.size() + 2);
      place = place_of(e);
    }
    return table_[place] = add(e);
  }
  // Where the number of an edge is in the table, or would be.
  std::size_t place_of(const StagedEdge& e) const {
    const std::uint64_t key =
        (static_cast<std::uint64_t>(e.stage) << 40 | static_cast<std::uint64_t>(e.from) << 20) |
        static_cast<std::uint64_t>(e.to);
    std::size_t place =
        static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & (table_.size() - 1);
    while (table_[place] != no_edge && edges_[table_[place]] != e)
      place = (place + 1) & (table_.size() - 1);
    return place;
  }

  static constexpr std::size_t most_square = std::size_t{1} << 22;
  const CommunicationMatrix& matrix_;
  int stages_;
  BlockLists lists_;
  std::vector<StagedEdge> edges_;
  // by stage and ranks, where these are few
  std::vector<EdgeNumber> square_;
  // else by place, at most half full
  std::vector<EdgeNumber> table_ = std::vector<EdgeNumber>(2, no_edge);
};

class Balancer {
 public:
  // edges: where to start; every block must have a path.
  Balancer(const CommunicationMatrix& matrix, const BalanceOptions& options,
           std::span<const StagedEdge> edges)
      : Balancer(matrix, options, options.stages, edges.size()) {
    start_from(edges);
    std::vector<StagedEdge> path;
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
      const std::int32_t from = matrix.origin(b), to = matrix.target(b);
      if (!graph_->find_path(from, to, paths_.lists().words_sent(), StagedGraph::Reach::all, path))
        fail(Errc::internal, "balanced starts without a path from ", from, " to ", to);
      paths_.lead(b, path);
    }
  }

  // start: its blocks begin on the ways that it gives them.
  Balancer(const CommunicationMatrix& matrix, const BalanceOptions& options,
           const MessageSchedule& start)
      : Balancer(matrix, options, std::max(options.stages, start.stages()),
                 start.messages().size()) {
    std::vector<StagedEdge> edges;
    std::vector<std::vector<StagedEdge>> ways(matrix.blocks());
    for (const CombinedMessage& m : start.messages()) {
      edges.push_back({m.stage, m.from, m.to});
      for (BlockNumber b : start.blocks(m)) ways[b].push_back(edges.back());
    }
    start_from(edges);
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) paths_.lead(b, ways[b]);
    most_stuck_ = 8;
  }

  MessageSchedule run() {
    if (limited() && !std::isinf(price_)) thin_cheaply();
    thin();
    level_all();
    if (limited()) {
      renew_candidates();
      thin();
      level_all();
    }
    shorten();
    return MessageSchedule(matrix_, paths_.hops());
  }

 private:
  Balancer(const CommunicationMatrix& matrix, const BalanceOptions& options, int stages,
           std::size_t edges)
      : matrix_(matrix),
        price_(options.price),
        reach_(std::isinf(options.price) ? StagedGraph::Reach::all : StagedGraph::Reach::four),
        ranks_(matrix.ranks()),
        graph_(make_staged_graph(matrix, stages, edges)),
        paths_(matrix, stages),
        candidates_(2 * static_cast<std::size_t>(ranks_)) {
    for (int rank = 0; rank < ranks_; ++rank) weights_.push_back(std::sqrt(matrix.sent_by(rank)));
    for (int rank = 0; rank < ranks_; ++rank)
      weights_.push_back(std::sqrt(matrix.column(rank).size()));
    const double words = static_cast<double>(matrix.statistics().words);
    most_words_ = options.words * words;
    word_weight_ = words > 0 ? 0.1 * ranks_ * ranks_ / words : 0;
    most_work_ = static_cast<std::uint64_t>(stages * stages) * work_per_pair_of_stages;
    if (matrix.blocks() <= most_blocks_at_once) most_work_ *= 8;
  }

  void start_from(std::span<const StagedEdge> edges) {
    paths_.expect(edges.size());
    for (const StagedEdge& edge : edges) {
      graph_->add(edge);
      const EdgeNumber e = paths_.number(edge);
      candidates_[edge.from].push_back(e);
      candidates_[ranks_ + edge.to].push_back(e);
    }
    tried_.assign(edges.size(), false);
  }

  bool limited() const { return !std::isinf(most_words_); }

  // All edges that are open may be tried again.
  void renew_candidates() {
    for (std::vector<EdgeNumber>& of_end : candidates_) of_end.clear();
    tried_.assign(paths_.edges(), true);
    for (EdgeNumber e = 0; e < tried_.size(); ++e) {
      const StagedEdge& edge = paths_.edge(e);
      if (!graph_->open(edge)) continue;
      tried_[e] = false;
      candidates_[edge.from].push_back(e);
      candidates_[ranks_ + edge.to].push_back(e);
    }
  }

  // Ends are 0 .. ranks - 1 for what ranks send, and the next ranks numbers for what they receive.
  int busy(int end) const {
    return end < ranks_ ? graph_->sent(end) : graph_->received(end - ranks_);
  }
  double urgency(int end) const { return busy(end) * weights_[end]; }

  // Words that are limited go first to deletions that cost few of them: the price begins at half an
  // average block and rises.
  void thin_cheaply() {
    constexpr int rises = 6;
    const double last = price_;
    price_ = 0.5 * static_cast<double>(matrix_.statistics().words) /
             static_cast<double>(matrix_.blocks());
    for (int k = 0; k < rises && price_ < last; ++k, price_ *= 4) {
      thin();
      renew_candidates();
    }
    price_ = last;
  }

  void thin() {
    std::priority_queue<std::pair<double, int>> queue;
    for (int end = 0; end < 2 * ranks_; ++end) queue.emplace(urgency(end), end);
    while (!queue.empty() && work() < most_work_ / 2) {
      const auto [value, end] = queue.top();
      queue.pop();
      if (value == urgency(end) && !thin(end)) continue;
      queue.emplace(urgency(end), end);
    }
  }

  // The least useful quarter of the edges at this end. Returns false if none is left to try.
  bool thin(int end) {
    std::vector<EdgeNumber>& edges = candidates_[end];
    std::erase_if(edges, [&](EdgeNumber e) { return tried_[e]; });
    if (edges.empty()) return false;
    ranking_.clear();
    for (EdgeNumber e : edges) ranking_.emplace_back(use(e), e);
    const std::size_t part = (ranking_.size() + 3) / 4;
    std::partial_sort(ranking_.begin(), ranking_.begin() + static_cast<std::ptrdiff_t>(part),
                      ranking_.end());
    for (std::size_t k = 0; k < part; ++k) {
      close(ranking_[k].second, price_);
      tried_[ranking_[k].second] = true;
    }
    return true;
  }

  // How many pairs could go over this edge and one more, and the words on it.
  double use(EdgeNumber number) const {
    return graph_->pairs_over(paths_.edge(number)) +
           word_weight_ * static_cast<double>(paths_.lists().words(number));
  }

  // Leads all blocks on it elsewhere, if they have ways and these have at most `price` more words.
  bool close(EdgeNumber number, double price) {
    if (needed(number)) return false;
    graph_->remove(paths_.edge(number));
    const std::vector<BlockNumber>& blocks = blocks_of(number);
    double more = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const bool found = graph_->find_path(matrix_.origin(blocks[k]), matrix_.target(blocks[k]),
                                           paths_.lists().words_sent(), reach_, detours_[k]);
      if (found) more += more_words(blocks[k], detours_[k]);
      if (found && more <= price && paths_.lists().all_words() + more <= most_words_) continue;
      graph_->add(paths_.edge(number));
      if (!found) need(number);
      return false;
    }
    for (std::size_t k = 0; k < blocks.size(); ++k) paths_.lead(blocks[k], detours_[k]);
    return true;
  }

  // Without this edge some block has no way, and none will come before edges are opened again.
  void need(EdgeNumber number) {
    needed_.resize(std::max<std::size_t>(needed_.size(), number + 1), 0);
    needed_[number] = openings_;
  }
  bool needed(EdgeNumber number) const {
    return number < needed_.size() && needed_[number] == openings_;
  }

  // with room for a detour of each
  const std::vector<BlockNumber>& blocks_of(EdgeNumber number) {
    paths_.lists().blocks(number, moving_);
    detours_.resize(std::max(detours_.size(), moving_.size()));
    return moving_;
  }

  double more_words(BlockNumber b, std::span<const StagedEdge> detour) const {
    return (static_cast<double>(detour.size()) - paths_.lists().hops(b)) *
           static_cast<double>(matrix_.words(b));
  }

  int most() const {
    int most = 0;
    for (int end = 0; end < 2 * ranks_; ++end) most = std::max(most, busy(end));
    return most;
  }

  // Leveling, and what makes room for more of it, as long as that helps.
  void level_all() {
    ++openings_;
    do level();
    while (straighten());
    constexpr int most_saves = 8;
    for (int saves = 0, failures = 0; limited() && saves < most_saves && failures < 2; ++saves) {
      const int before = most();
      if (!save_words(before - 2)) break;
      do level();
      while (straighten());
      failures = most() < before ? 0 : failures + 1;
    }
  }

  // The busiest ends get less to do until some find nothing, or the work is done that may be done.
  // Where words are limited, those with one message less then make room, and it begins anew.
  void level() {
    const int most_tries = limited() ? 3 : 1;
    for (int tries = 0; tries < most_tries && most() > 1 && work() < most_work_;) {
      const int top = most();
      if (lower(top)) continue;
      if (++tries < most_tries) lower(top - 1);
    }
  }

  // Blocks go directly between ranks that have less than `limit` to do, those that save the most
  // words first, until leveling has a fiftieth of all to spend. Returns whether there were any.
  bool save_words(int limit) {
    const auto has_room = [&](BlockNumber b) {
      return graph_->sent(matrix_.origin(b)) < limit && graph_->received(matrix_.target(b)) < limit;
    };
    std::vector<std::pair<double, BlockNumber>> savings;
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
      if (const double saved = (paths_.lists().hops(b) - 1) * static_cast<double>(matrix_.words(b));
          saved > 0 && has_room(b))
        savings.emplace_back(-saved, b);
    std::sort(savings.begin(), savings.end());
    double wanted = 0.02 * static_cast<double>(matrix_.statistics().words);
    bool any = false;
    for (const auto& [saved, b] : savings) {
      if (!has_room(b) || wanted <= 0) continue;
      go_directly(b);
      wanted += saved;
      any = true;
    }
    return any;
  }

  // All ends to less than `most`; false if some cannot.
  bool lower(int most) {
    int stuck = 0;
    for (int end = 0; end < 2 * ranks_ && stuck < most_stuck_; ++end)
      while (busy(end) >= most && work() < most_work_)
        if (!relieve(end)) {
          ++stuck;
          break;
        }
    return stuck == 0;
  }
  std::uint64_t work() const { return graph_->work(); }

  // One edge less for this end; false if none can be had.
  bool relieve(int end) {
    lightest_.clear();  // those with few words first
    at_end_.clear();
    if (end < ranks_)
      graph_->list_out(end, at_end_);
    else
      graph_->list_in(end - ranks_, at_end_);
    for (const StagedEdge& edge : at_end_) {
      const EdgeNumber e = paths_.number(edge);
      lightest_.emplace_back(paths_.lists().words(e), e);
    }
    const int most = busy(end);
    // mostly one of the first will do
    std::make_heap(lightest_.begin(), lightest_.end(), std::greater<>());
    for (; !lightest_.empty(); lightest_.pop_back()) {
      std::pop_heap(lightest_.begin(), lightest_.end(), std::greater<>());
      if (replace(lightest_.back().second, most)) return true;
    }
    return false;
  }

  // Closes it and opens others where blocks have no way, between ranks that have then less than
  // `most` edges.
  bool replace(EdgeNumber number, int most) {
    const StagedEdge old = paths_.edge(number);
    graph_->remove(old);
    const std::vector<BlockNumber>& blocks = blocks_of(number);
    std::vector<StagedEdge> opened;
    double more = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      if (lead_or_open(blocks[k], most, old, opened, detours_[k]))
        more += more_words(blocks[k], detours_[k]);
      else
        more = std::numeric_limits<double>::infinity();
      if (paths_.lists().all_words() + more <= most_words_ && !std::isinf(more)) continue;
      for (const StagedEdge& e : opened) graph_->remove(e);
      graph_->add(old);
      return false;
    }
    for (std::size_t k = 0; k < blocks.size(); ++k) paths_.lead(blocks[k], detours_[k]);
    return true;
  }

  bool lead_or_open(BlockNumber b, int most, const StagedEdge& old, std::vector<StagedEdge>& opened,
                    std::vector<StagedEdge>& path) {
    const int from = matrix_.origin(b), to = matrix_.target(b);
    if (graph_->find_path(from, to, paths_.lists().words_sent(), StagedGraph::Reach::all, path))
      return true;
    StagedEdge edge;
    if (opened.size() == most_opened || !graph_->find_missing(from, to, most - 1, edge) ||
        edge == old)
      return false;
    graph_->add(edge);
    opened.push_back(edge);
    return graph_->find_path(from, to, paths_.lists().words_sent(), StagedGraph::Reach::all, path);
  }

  // Blocks take shorter paths over edges that were opened after they were led, and edges that have
  // lost their last blocks go. Returns whether there were such: the busiest may have room now.
  // Ranks only lose edges by it, so leveling still ends.
  bool straighten() {
    std::vector<EdgeNumber> left;
    std::vector<StagedEdge> path;
    bool changed = false;
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b) {
      const int hops = paths_.lists().hops(b);
      if (hops < 2 ||
          !graph_->find_short_path(matrix_.origin(b), matrix_.target(b),
                                   paths_.lists().words_sent(), path) ||
          static_cast<int>(path.size()) >= hops)
        continue;
      for (int s = 0; s < graph_->stages(); ++s)
        if (const EdgeNumber e = paths_.lists().edge(b, s); e != no_edge) left.push_back(e);
      paths_.lead(b, path);
    }
    for (EdgeNumber e : left)
      if (paths_.lists().empty(e) && graph_->open(paths_.edge(e))) {
        graph_->remove(paths_.edge(e));
        changed = true;
      }
    return changed;
  }

  // Blocks that would save more words than a message costs go directly, where this makes no rank
  // the busiest.
  void shorten() {
    const int limit = most();
    std::vector<std::pair<double, BlockNumber>> savings;
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
      if (const double saved = (paths_.lists().hops(b) - 1) * static_cast<double>(matrix_.words(b));
          saved > price_)
        savings.emplace_back(-saved, b);
    std::sort(savings.begin(), savings.end());
    for (const auto& [saved, b] : savings) {
      if (graph_->sent(matrix_.origin(b)) >= limit || graph_->received(matrix_.target(b)) >= limit)
        continue;
      go_directly(b);
    }
  }

  // Over an edge that is not open yet: if it were, straighten() would have taken it.
  void go_directly(BlockNumber b) {
    const StagedEdge direct{(matrix_.origin(b) + matrix_.target(b)) % graph_->stages(),
                            matrix_.origin(b), matrix_.target(b)};
    graph_->add(direct);
    paths_.lead(b, std::span(&direct, 1));
  }

  static constexpr std::size_t most_opened = 64;
  const CommunicationMatrix& matrix_;
  double price_, most_words_ = 0;
  StagedGraph::Reach reach_;  // of ways in thinning: those of many edges cost many words
  int ranks_;
  std::unique_ptr<StagedGraph> graph_;
  Paths paths_;
  std::vector<std::vector<EdgeNumber>> candidates_;  // by end
  std::vector<char> tried_;                          // by edge: is gone, or cannot go
  std::vector<std::uint32_t> needed_;                // by edge: after how many openings
  std::uint32_t openings_ = 1;                       // levelings, in which edges are opened
  std::vector<double> weights_;                      // by end
  // 1 / ranks of a rank's average words weigh as much as a tenth of a pair
  double word_weight_;
  // Ends that leveling leaves behind before it gives up: more where thinning had less to choose.
  int most_stuck_ = 1;
  // What thinning and leveling have not done by then stays as it is: a schedule all the same.
  static constexpr std::uint64_t work_per_pair_of_stages = 1'600'000;
  std::uint64_t most_work_ = 0;
  std::vector<std::pair<double, EdgeNumber>> ranking_;
  std::vector<StagedEdge> at_end_;
  std::vector<std::pair<std::uint64_t, EdgeNumber>> lightest_;
  std::vector<BlockNumber> moving_;  // away from an edge that is to close
  std::vector<std::vector<StagedEdge>> detours_;
};

}  // namespace

MessageSchedule over_many_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                                 std::span<const StagedEdge> edges) {
  return Balancer(matrix, options, edges).run();
}

MessageSchedule over_many_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                                 const MessageSchedule& start) {
  return Balancer(matrix, options, start).run();
}

}  // namespace tonari
