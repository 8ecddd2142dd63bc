// SPDX-License-Identifier: BSD-3-Clause
// A staged graph (staged_graph.hpp) of short lists: every rank's edges out and in. Time is that of
// the edges that a search comes to, however many ranks and stages there are.
//
// What is asked for again and again of one rank is kept until an edge comes or goes: in which stage
// one edge brings a block to the others, or two, and up to which stage one edge leads from them
// back, or two.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "planners/patterns/bit_rows.hpp"
#include "planners/patterns/communication_matrix.hpp"
#include "planners/patterns/staged_graph.hpp"

namespace tonari {

class ListGraph final : public StagedGraph {
 public:
  // At most 65,536 ranks and 32,000 stages.
  ListGraph(const CommunicationMatrix& pattern, int stages);

  bool open(const StagedEdge& e) const override;
  void list_out(int rank, std::vector<StagedEdge>& edges) const override;
  void list_in(int rank, std::vector<StagedEdge>& edges) const override;
  int pairs_over(const StagedEdge& e) override;
  bool find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_missing(int a, int b, int most, StagedEdge& edge) override;

 private:
  // The other end of an edge.
  struct Neighbor {
    std::uint16_t stage, rank;
    friend auto operator<=>(const Neighbor&, const Neighbor&) = default;
  };
  using Neighbors = std::vector<Neighbor>;  // ascending

  static constexpr std::int16_t not_yet = std::numeric_limits<std::int16_t>::max();
  static constexpr std::int16_t too_late = -1;

  // A stage for each rank, and which of them have one.
  struct Stages {
    void clear(std::int16_t none) {
      for (std::int32_t rank : known) of[rank] = none;
      known.clear();
    }
    std::vector<std::int16_t> of;
    std::vector<std::int32_t> known;
  };
  // What some of these are of; nothing once an edge comes or goes.
  struct Known {
    int rank = -1, bound = 0;
    bool beyond = false;
  };

  void put(const StagedEdge& e) override;
  void drop(const StagedEdge& e) override;
  bool find_one(int a, int b, std::vector<StagedEdge>& path);
  bool find_two(int a, int b, Load load, std::vector<StagedEdge>& path);
  bool find_three(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_four(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_more(int a, int b, Load load, std::vector<StagedEdge>& path) override;

  // near_: before which stage one edge brings a block of a
  void reach_near(int a);
  // beyond_: before which stage two edges do
  void reach_beyond();
  // near_back_: the last stage in which an edge leads to b; beyond_back_: the last one for two
  void reach_near_back(int b);
  void reach_beyond_back();
  // The edge that brought `via` into near_, and that which leads from it to b.
  StagedEdge first_edge(int a, int via) const { return {near_.of[via] - 1, a, via}; }
  StagedEdge last_edge(int via, int b, int after) const;

  // from_: before which stage a block of a can be there, at least by edges of stages < `stages`
  void spread(int stages, int a);
  // to_: in which stage it must be there to reach b, at least by edges of stages >= `first`
  void spread_back(int first, int b);
  // The least busy rank where a block can be before each stage, and from which it can go on before.
  using Choice = std::pair<int, int>;  // edges, rank
  void choose_tails(std::vector<Choice>& tails) const;
  void choose_heads(std::vector<Choice>& heads) const;

  std::vector<Neighbors> out_, in_;  // by rank
  BitRows needs_;                    // the pattern
  Known known_, known_back_, known_from_, known_to_;
  Stages near_, beyond_, near_back_, beyond_back_;
  std::vector<std::int16_t> from_, to_;              // by rank
  std::vector<std::vector<std::int32_t>> by_stage_;  // ranks that a search comes to
  std::vector<Choice> tails_, heads_;                // by stage
};

}  // namespace tonari
