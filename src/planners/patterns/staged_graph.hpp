// SPDX-License-Identifier: BSD-3-Clause
// Which rank may write to which in which stage, and paths over that: a block takes at most one edge
// per stage, in the order of stages, or stays.
//
// There are two kinds, which find the same: choose_graph.hpp says which is used when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tonari {

struct StagedEdge {
  std::int32_t stage, from, to;
  friend bool operator==(const StagedEdge&, const StagedEdge&) = default;
};

class StagedGraph {
 public:
  using Load = std::span<const std::uint64_t>;  // by rank
  enum class Reach : std::uint8_t { four, all };

  StagedGraph(int ranks, int stages)
      : stages_(stages), sent_(static_cast<std::size_t>(ranks), 0), received_(sent_) {}
  virtual ~StagedGraph() = default;

  int stages() const { return stages_; }
  int sent(int rank) const { return sent_[rank]; }  // edges of all stages
  int received(int rank) const { return received_[rank]; }
  // What searches have gone through, about in nanoseconds.
  std::uint64_t work() const { return work_; }

  virtual bool open(const StagedEdge& e) const = 0;
  void add(const StagedEdge& e) {  // must not be open
    ++sent_[e.from], ++received_[e.to];
    put(e);
  }
  void remove(const StagedEdge& e) {  // must be open
    --sent_[e.from], --received_[e.to];
    drop(e);
  }

  // Those from a rank, or to it, by stage and rank.
  virtual void list_out(int rank, std::vector<StagedEdge>& edges) const = 0;
  virtual void list_in(int rank, std::vector<StagedEdge>& edges) const = 0;

  // Pairs of the pattern that could go over this edge and one more.
  virtual int pairs_over(const StagedEdge& e) = 0;

  // A path from a to b, if there is one: of one edge if possible, else of two, three or four, else
  // as they come; of equal ones by way of ranks with little load. It passes no rank twice. Where
  // both ends may choose the stage of a single edge they take turns, so that all stages are in use.
  bool find_path(int a, int b, Load load, Reach reach, std::vector<StagedEdge>& path) {
    return find_short_path(a, b, load, path) ||
           (stages_ > 2 && (find_three(a, b, load, path) || find_four(a, b, load, path) ||
                            (reach == Reach::all && find_more(a, b, load, path))));
  }

  // of one edge or two
  virtual bool find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) = 0;

  // An edge that is not open and whose opening would make a path from a to b. Both its ends have
  // fewer than `most` edges out, in; the least busy such ones.
  virtual bool find_missing(int a, int b, int most, StagedEdge& edge) = 0;

 protected:
  virtual void put(const StagedEdge& e) = 0;
  virtual void drop(const StagedEdge& e) = 0;

  // These find paths of so many edges where there are none of fewer.
  virtual bool find_three(int a, int b, Load load, std::vector<StagedEdge>& path) = 0;
  virtual bool find_four(int a, int b, Load load, std::vector<StagedEdge>& path) = 0;
  virtual bool find_more(int a, int b, Load load, std::vector<StagedEdge>& path) = 0;

  // Both halves of a way may pass a rank: what lies between is left out.
  static void cut_loops(std::vector<StagedEdge>& path);

  // The argument with the least value so far; the first of equals.
  template <class Value>
  struct Least {
    int argument = -1;
    Value value = std::numeric_limits<Value>::max();
    bool offer(int a, Value v) {
      if (argument >= 0 && v >= value) return false;
      argument = a;
      value = v;
      return true;
    }
  };

  int stages_;
  std::vector<int> sent_, received_;
  std::uint64_t work_ = 0;
};

}  // namespace tonari
