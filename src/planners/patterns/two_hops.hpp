// SPDX-License-Identifier: BSD-3-Clause
// Routes of all blocks over two stages of edges, and what makes them better: edges of the busiest
// rank closed, others opened elsewhere.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "planners/patterns/block_lists.hpp"
#include "planners/patterns/message_schedule.hpp"
#include "planners/patterns/stage_sets.hpp"
#include "planners/patterns/thinning.hpp"

namespace tonari {

class TwoHops {
 public:
  // via: what thin() returns; the edges are those that blocks take.
  TwoHops(const CommunicationMatrix& matrix, std::span<const std::int32_t> via);

  // The busiest rank closes one of its edges, those with few words first; blocks without a way get
  // a new edge, whatever the pattern, between ranks with room; until the busiest find none, even
  // after those with one message less have made room, or the words are spent. Edges go from busier
  // ranks to less busy ones, so it ends.
  void level(double most_words);

  // Blocks go directly where the edge is open by now, and those that would save more words than
  // `price` also where it is not, if this makes no rank the busiest.
  void shorten(double price);

  int most() const;              // messages of the busiest rank, sent or received
  std::size_t messages() const;  // of all ranks
  double words() const { return lists_.all_words(); }
  std::vector<BlockHop> hops() const;
  std::uint64_t steps() const { return steps_; }  // looks at an edge

 private:
  struct Edge {
    bool second;
    std::int32_t from, to;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct Neighbor {
    std::int32_t rank;
    EdgeNumber edge;
  };

  EdgeNumber list(const Edge& edge);
  void unlist(EdgeNumber e);
  void use(const Edge& edge);  // from now on blocks may
  void avoid(const Edge& edge);
  EdgeNumber number(const Edge& edge) const;
  bool find_missing(int a, int t, int most, const Edge& barred, Edge& missing);
  void lead(BlockNumber b, std::int32_t via);
  void drop_left();
  int busy(int end) const { return end < ranks_ ? sent_[end] : received_[end - ranks_]; }
  // all ranks to less than `most`; false if some cannot
  bool lower(int most, double most_words);
  bool relieve(int end, double most_words);  // one edge less
  bool replace(EdgeNumber old, int most, double most_words);

  const CommunicationMatrix& matrix_;
  int ranks_;
  std::vector<Edge> edges_;
  std::array<std::vector<std::vector<Neighbor>>, 2> out_, in_;  // by stage and rank
  StageSets open_;
  BlockLists lists_;
  std::vector<int> sent_, received_;
  std::vector<EdgeNumber> left_;  // by blocks
  // away from an edge that is to close
  std::vector<BlockNumber> moving_;
  std::vector<std::int32_t> detours_;  // and their new ways
  std::vector<Edge> opened_;           // for these
  std::vector<std::pair<std::uint64_t, EdgeNumber>> ranking_;
  std::uint64_t steps_ = 0;
};

}  // namespace tonari
