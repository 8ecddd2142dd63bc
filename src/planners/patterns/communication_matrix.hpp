// SPDX-License-Identifier: BSD-3-Clause
// How much each rank sends to each, seen from above: what planners for irregular patterns start
// from (Duymuş 2021, §2.2).
//
// Rows are ranks that send. An entry is one block, from its origin to its target; entries are
// numbered row by row, targets ascending. A block may have no words; it travels all the same.
// No rank sends to itself here.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

namespace tonari {

using BlockNumber = std::uint32_t;  // of an entry

struct Flow {
  std::int32_t from, to;
  std::uint64_t words;  // of whatever size; only ratios matter here
};

struct MatrixStatistics {
  double average_sent = 0;  // messages per rank, also received ones
  int most_sent = 0, most_received = 0;
  std::uint64_t words = 0, most_words_sent = 0, most_words_received = 0;
};

class CommunicationMatrix {
 public:
  // Flows in any order. Those of one pair are added up, those from a rank to itself dropped. Throws
  // Errc::argument if a rank is out of range, Errc::overflow if there are 2^32 entries or the sum
  // of all words does not fit.
  CommunicationMatrix(int ranks, std::span<const Flow> flows);

  int ranks() const { return static_cast<int>(row_begin_.size()) - 1; }
  std::size_t blocks() const { return target_.size(); }

  std::int32_t origin(BlockNumber b) const { return origin_[b]; }
  std::int32_t target(BlockNumber b) const { return target_[b]; }
  std::uint64_t words(BlockNumber b) const { return words_[b]; }

  // SendSet(rank), ascending, and the numbers of its blocks.
  std::span<const std::int32_t> targets(int rank) const {
    return std::span(target_).subspan(row_begin_[rank], sent_by(rank));
  }
  auto row(int rank) const { return std::views::iota(row_begin_[rank], row_begin_[rank + 1]); }
  BlockNumber first_of(int rank) const { return row_begin_[rank]; }
  int sent_by(int rank) const { return static_cast<int>(row_begin_[rank + 1] - row_begin_[rank]); }

  // The blocks for a rank, origins ascending: the transposed view.
  std::span<const BlockNumber> column(int rank) const {
    return std::span(column_).subspan(column_begin_[rank],
                                      column_begin_[rank + 1] - column_begin_[rank]);
  }

  static constexpr BlockNumber none = ~BlockNumber{0};
  BlockNumber find(int from, int to) const;  // none if there is no such entry

  MatrixStatistics statistics() const;

 private:
  std::vector<BlockNumber> row_begin_, column_begin_;
  std::vector<std::int32_t> origin_, target_;
  std::vector<std::uint64_t> words_;
  std::vector<BlockNumber> column_;
};

}  // namespace tonari
