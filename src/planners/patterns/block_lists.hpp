// SPDX-License-Identifier: BSD-3-Clause
// Which blocks take which edges, one in each stage at most: every edge has a list of its blocks,
// and every block a place per stage in which it hangs in such a list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planners/patterns/communication_matrix.hpp"

namespace tonari {

using EdgeNumber = std::uint32_t;
constexpr EdgeNumber no_edge = ~EdgeNumber{0};

class BlockLists {
 public:
  BlockLists(const CommunicationMatrix& matrix, int stages)
      : matrix_(matrix),
        stages_(static_cast<std::size_t>(stages)),
        places_(matrix.blocks() * stages_),
        words_sent_(static_cast<std::size_t>(matrix.ranks()), 0) {}

  // An edge on which words leave the rank `from`, without blocks.
  EdgeNumber add(std::int32_t from) {
    lists_.push_back({from, nothing, 0});
    return static_cast<EdgeNumber>(lists_.size() - 1);
  }
  void enter(BlockNumber b, int stage, EdgeNumber e) {
    const std::uint32_t p = place(b, stage);
    List& list = lists_[e];
    places_[p] = {e, list.head, nothing};
    if (list.head != nothing) places_[list.head].before = p;
    list.head = p;
    list.words += matrix_.words(b);
    words_sent_[list.from] += matrix_.words(b);
    all_words_ += matrix_.words(b);
  }
  void leave(BlockNumber b, int stage) {
    Place& place = places_[this->place(b, stage)];
    if (place.edge == no_edge) return;
    List& list = lists_[place.edge];
    (place.before == nothing ? list.head : places_[place.before].next) = place.next;
    if (place.next != nothing) places_[place.next].before = place.before;
    list.words -= matrix_.words(b);
    words_sent_[list.from] -= matrix_.words(b);
    all_words_ -= matrix_.words(b);
    place = {};
  }

  EdgeNumber edge(BlockNumber b, int stage) const { return places_[place(b, stage)].edge; }
  int hops(BlockNumber b) const {
    int count = 0;
    for (std::size_t k = 0; k < stages_; ++k) count += places_[b * stages_ + k].edge != no_edge;
    return count;
  }
  std::vector<BlockNumber> blocks(EdgeNumber e) const {
    std::vector<BlockNumber> all;
    blocks(e, all);
    return all;
  }
  void blocks(EdgeNumber e, std::vector<BlockNumber>& all) const {
    all.clear();
    for (std::uint32_t p = lists_[e].head; p != nothing; p = places_[p].next)
      all.push_back(static_cast<BlockNumber>(p / stages_));
  }
  bool empty(EdgeNumber e) const { return lists_[e].head == nothing; }
  std::uint64_t words(EdgeNumber e) const { return lists_[e].words; }
  std::span<const std::uint64_t> words_sent() const { return words_sent_; }  // by rank
  double all_words() const { return static_cast<double>(all_words_); }

 private:
  static constexpr std::uint32_t nothing = ~0u;
  struct Place {
    EdgeNumber edge = no_edge;
    std::uint32_t next = nothing, before = nothing;
  };
  struct List {
    std::int32_t from;
    std::uint32_t head;
    std::uint64_t words;
  };
  std::uint32_t place(BlockNumber b, int stage) const {
    return static_cast<std::uint32_t>(b * stages_ + static_cast<std::size_t>(stage));
  }

  const CommunicationMatrix& matrix_;
  std::size_t stages_;
  std::vector<Place> places_;  // by block and stage
  std::vector<List> lists_;    // by edge
  std::vector<std::uint64_t> words_sent_;
  std::uint64_t all_words_ = 0;
};

}  // namespace tonari
