// Routes of all blocks over two stages of edges, and what makes them better: edges of the busiest rank closed, others opened elsewhere.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sharing/block_lists.hpp"
#include "sharing/message_schedule.hpp"
#include "sharing/thinning.hpp"

namespace tonari {

class TwoHops {
 public:
  // via: what thin() returns; the edges are those that blocks take.
  TwoHops(const CommunicationMatrix& matrix, std::span<const std::int32_t> via);

  // The busiest rank closes one of its edges, those with few words first; blocks without a way get a new edge, whatever the pattern, between ranks with room;
  // until the busiest find none, even after those with one message less have made room, or the words are spent. Edges go from busier ranks to less busy ones, so
  // it ends.
  void level(double most_words);

  // Blocks that would save more words than `price` go directly, where this makes nobody the busiest.
  void shorten(double price);

  int most() const;                       // messages of the busiest rank, sent or received
  double words() const { return lists_.all_words(); }
  std::vector<BlockHop> hops() const;
  std::uint64_t steps() const { return steps_; }  // looks at an edge

 private:
  struct Edge {
    std::int32_t from, to;
    bool second, gone;
  };
  struct Way {
    EdgeNumber first = no_edge, second = no_edge;
    int hops() const { return (first != no_edge) + (second != no_edge); }
  };

  EdgeNumber open(int stage, int from, int to);
  void close(EdgeNumber e);
  std::vector<EdgeNumber>& tidy(std::vector<EdgeNumber>& edges);
  Way find(int a, int t);
  bool find_missing(int a, int t, int most, EdgeNumber& opened);
  void lead(BlockNumber b, Way way);
  int busy(int end) const { return end < ranks_ ? sent_[end] : received_[end - ranks_]; }
  void count(int from, int to, int by);
  bool lower(int most, double most_words);             // everybody to less than `most`; false if some cannot
  bool relieve(int end, double most_words);            // one edge less
  bool replace(EdgeNumber old, int most, double most_words);

  const CommunicationMatrix& matrix_;
  int ranks_;
  std::vector<Edge> edges_;
  std::array<std::vector<std::vector<EdgeNumber>>, 2> out_, in_;  // by stage and rank; may have edges that are gone
  BlockLists lists_;
  std::vector<int> sent_, received_;
  EdgeNumber barred_ = no_edge;                                   // open, but not to be used
  std::vector<EdgeNumber> mark_;                                  // by rank
  std::vector<Way> detours_;
  std::uint64_t steps_ = 0;
};

}  // namespace tonari
