// With how many ranks does a rank share how many targets (paper 003, §4.3.1).
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "sharing/communication_matrix.hpp"

namespace tonari {

struct CommonCount {
  std::int32_t rank;
  std::uint32_t targets;
};

// Counts by bits where rows are so full that this is less work, else along the columns of the rank's targets. Up to 4,096 ranks what was counted is kept.
class CommonTargets {
 public:
  explicit CommonTargets(const CommunicationMatrix& matrix)
      : matrix_(matrix), words_((static_cast<std::size_t>(matrix.ranks()) + 63) / 64), common_(static_cast<std::size_t>(matrix.ranks()), 0),
        known_(matrix.ranks() <= 4096 ? common_.size() : 1) {
    if (words_ * common_.size() > matrix.blocks()) return;
    bits_.resize(words_ * common_.size());
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) row(matrix.origin(b))[matrix.target(b) / 64] |= std::uint64_t{1} << matrix.target(b) % 64;
  }

  // |SendSet(rank) n SendSet(other)| of all others for which it is at least 2, in any order. Valid until the next call.
  std::span<const CommonCount> of(int rank) {
    const bool kept = matrix_.ranks() <= 4096;
    Known& known = known_[kept ? rank : 0];
    if (kept && known.counted) return known.counts;
    known.counts.clear();
    known.counted = true;
    if (bits_.empty()) along_columns(rank, known.counts);
    else by_bits(rank, known.counts);
    return known.counts;
  }

 private:
  struct Known {
    std::vector<CommonCount> counts;
    bool counted = false;
  };

  std::uint64_t* row(int rank) { return bits_.data() + words_ * static_cast<std::size_t>(rank); }

  void by_bits(int rank, std::vector<CommonCount>& counts) {
    const std::uint64_t* own = row(rank);
    for (int other = 0; other < matrix_.ranks(); ++other) {
      const std::uint64_t* theirs = row(other);
      std::uint32_t common = 0;
      for (std::size_t w = 0; w < words_; ++w) common += static_cast<std::uint32_t>(std::popcount(own[w] & theirs[w]));
      if (common >= 2 && other != rank) counts.push_back({other, common});
    }
  }

  void along_columns(int rank, std::vector<CommonCount>& counts) {
    touched_.clear();
    for (std::int32_t target : matrix_.targets(rank))
      for (BlockNumber b : matrix_.column(target))
        if (++common_[matrix_.origin(b)] == 2) touched_.push_back(matrix_.origin(b));
    for (std::int32_t other : touched_)
      if (other != rank) counts.push_back({other, common_[other]});
    for (std::int32_t target : matrix_.targets(rank))
      for (BlockNumber b : matrix_.column(target)) common_[matrix_.origin(b)] = 0;
  }

  const CommunicationMatrix& matrix_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> common_;  // zeros between calls
  std::vector<std::int32_t> touched_;
  std::vector<Known> known_;           // by rank, or only one, for whoever asks
};

}  // namespace tonari
