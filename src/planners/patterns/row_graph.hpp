// SPDX-License-Identifier: BSD-3-Clause
// A staged graph (staged_graph.hpp) of rows of bits: every stage has a row for each rank's edges
// out, and one for those in. So many edges at once are intersected as few, and memory is ranks *
// ranks bits for each stage.
#pragma once

#include <vector>

#include "planners/patterns/bit_rows.hpp"
#include "planners/patterns/communication_matrix.hpp"
#include "planners/patterns/staged_graph.hpp"

namespace tonari {

class RowGraph final : public StagedGraph {
 public:
  RowGraph(const CommunicationMatrix& pattern, int stages);

  bool open(const StagedEdge& e) const override { return forward_[e.stage].test(e.from, e.to); }
  void list_out(int rank, std::vector<StagedEdge>& edges) const override;
  void list_in(int rank, std::vector<StagedEdge>& edges) const override;
  int pairs_over(const StagedEdge& e) override;
  bool find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_missing(int a, int b, int most, StagedEdge& edge) override;

 private:
  void put(const StagedEdge& e) override;
  void drop(const StagedEdge& e) override;
  bool find_two(int a, int b, Load load, std::vector<StagedEdge>& path);
  bool find_three(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_four(int a, int b, Load load, std::vector<StagedEdge>& path) override;
  bool find_more(int a, int b, Load load, std::vector<StagedEdge>& path) override;

  void look(std::size_t rows) { work_ += 10 * rows; }

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
  BitRows needs_, needed_by_;  // the pattern, by row and by column
  // row: stage
  BitRows near_, beyond_, near_back_, beyond_back_, from_, to_;
};

}  // namespace tonari
