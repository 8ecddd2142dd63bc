// SPDX-License-Identifier: BSD-3-Clause
// Which rank may write to which in which stage, and paths over that: a block takes at most one edge
// per stage, in the order of stages, or stays.
#pragma once

#include <span>
#include <vector>

#include "planners/patterns/bit_rows.hpp"

namespace tonari {

struct StagedEdge {
  std::int32_t stage, from, to;
  friend bool operator==(const StagedEdge&, const StagedEdge&) = default;
};

class StagedGraph {
 public:
  using Load = std::span<const std::uint64_t>;  // by rank
  enum class Reach : std::uint8_t { four, all };

  StagedGraph(int ranks, int stages);

  int stages() const { return static_cast<int>(forward_.size()); }
  bool open(const StagedEdge& e) const { return forward_[e.stage].test(e.from, e.to); }
  void add(const StagedEdge& e);                    // must not be open
  void remove(const StagedEdge& e);                 // must be open
  int sent(int rank) const { return sent_[rank]; }  // edges of all stages
  int received(int rank) const { return received_[rank]; }
  // Rows of bits that searches have gone through: what takes the time.
  std::uint64_t work() const { return work_; }
  const BitRows& forward(int stage) const { return forward_[stage]; }    // row: from
  const BitRows& backward(int stage) const { return backward_[stage]; }  // row: to

  // A path from a to b, if there is one: of one edge if possible, else of two, three or four, else
  // as they come; of equal ones by way of ranks with little load. It passes no rank twice. Where
  // both ends may choose the stage of a single edge they take turns, so that all stages are in use.
  bool find_path(int a, int b, Load load, Reach reach, std::vector<StagedEdge>& path);

  // of one edge or two
  bool find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path);

  // An edge that is not open and whose opening would make a path from a to b. Both its ends have
  // fewer than `most` edges out, in; the least busy such ones.
  bool find_missing(int a, int b, int most, StagedEdge& edge);

 private:
  // These find paths of so many edges where there are none of fewer.
  bool find_two(int a, int b, Load load, std::vector<StagedEdge>& path);
  bool find_three(int a, int b, Load load, std::vector<StagedEdge>& path);
  bool find_four(int a, int b, Load load, std::vector<StagedEdge>& path);

  // near_[s]: where one edge brings a block of a before stage s
  void reach_near(int a);
  // beyond_[s]: where two edges do, those of near_ not counted
  void reach_beyond();
  // near_back_[s], beyond_back_[s]: from where one edge leads to b in stages >= s, or two
  void reach_near_back(int b);
  void reach_beyond_back();
  // The edge that brought `via` into near_, and that which leads from it to b.
  StagedEdge first_edge(int a, int via) const;
  StagedEdge last_edge(int via, int b, int after) const;

  bool find_more(int a, int b, Load load, std::vector<StagedEdge>& path);
  // from_[s]: where a block of a can be before stage s, s <= stages
  void spread(int stages, int a);
  // to_[s]: from where it can reach b in stages >= s, s >= first
  void spread_back(int first, int b);

  // What near_, near_back_ and what lies beyond them are of; nothing once an edge comes or goes.
  struct Known {
    int rank = -1;
    bool beyond = false;
  };
  Known known_, known_back_;

  std::vector<BitRows> forward_, backward_;
  std::vector<int> sent_, received_;
  std::uint64_t work_ = 0;
  // row: stage
  BitRows near_, beyond_, near_back_, beyond_back_, from_, to_;
};

}  // namespace tonari
