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
  StagedGraph(int ranks, int stages);

  int stages() const { return static_cast<int>(forward_.size()); }
  bool open(const StagedEdge& e) const { return forward_[e.stage].test(e.from, e.to); }
  void add(const StagedEdge& e);                    // must not be open
  void remove(const StagedEdge& e);                 // must be open
  int sent(int rank) const { return sent_[rank]; }  // edges of all stages
  int received(int rank) const { return received_[rank]; }
  const BitRows& forward(int stage) const { return forward_[stage]; }    // row: from
  const BitRows& backward(int stage) const { return backward_[stage]; }  // row: to

  // A path from a to b, if there is one, with one edge if possible, else two, else as they come; of
  // equal ones by way of ranks with little load. It passes no rank twice. Where both ends may
  // choose the stage of a single edge they take turns, so that all stages are in use.
  bool find_path(int a, int b, std::span<const std::uint64_t> load, std::vector<StagedEdge>& path);

  // of one edge or two
  bool find_short_path(int a, int b, std::span<const std::uint64_t> load,
                       std::vector<StagedEdge>& path) const;

  // An edge that is not open and whose opening would make a path from a to b. Both its ends have
  // fewer than `most` edges out, in; the least busy such ones.
  bool find_missing(int a, int b, int most, StagedEdge& edge);

 private:
  bool through_one(int a, int b, std::span<const std::uint64_t> load,
                   std::vector<StagedEdge>& path) const;
  bool through_many(int a, int b, std::span<const std::uint64_t> load,
                    std::vector<StagedEdge>& path);
  // from_[s]: where a block of a can be before stage s, s <= stages
  void spread(int stages, int a);
  // to_[s]: from where it can reach b in stages >= s, s >= first
  void spread_back(int first, int b);

  std::vector<BitRows> forward_, backward_;
  std::vector<int> sent_, received_;
  BitRows from_, to_;  // row: stage
};

}  // namespace tonari
