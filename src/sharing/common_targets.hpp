// With how many ranks does a rank share how many targets (paper 003, §4.3.1).
#pragma once

#include <bit>

#include "sharing/communication_matrix.hpp"

namespace tonari {

// Counts by bits where rows are so full that this is less work, else along the columns of the rank's targets. Up to 4,096 ranks what was counted by bits is kept.
class CommonTargets {
 public:
  explicit CommonTargets(const CommunicationMatrix& matrix) : matrix_(matrix), words_((static_cast<std::size_t>(matrix.ranks()) + 63) / 64) {
    common_.resize(1, std::vector<std::uint32_t>(static_cast<std::size_t>(matrix.ranks())));
    if (words_ * static_cast<std::size_t>(matrix.ranks()) > matrix.blocks()) return;
    bits_.resize(words_ * static_cast<std::size_t>(matrix.ranks()));
    if (matrix.ranks() <= 4096) common_.assign(static_cast<std::size_t>(matrix.ranks()), {});
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) row(matrix.origin(b))[matrix.target(b) / 64] |= std::uint64_t{1} << matrix.target(b) % 64;
  }

  // |SendSet(rank) n SendSet(other)| by other; of itself, the size. Valid until the next call.
  std::span<const std::uint32_t> of(int rank) {
    const bool kept = common_.size() > 1;
    std::vector<std::uint32_t>& common = common_[kept ? rank : 0];
    if (kept && !common.empty()) return common;
    common.assign(static_cast<std::size_t>(matrix_.ranks()), 0);
    if (bits_.empty()) along_columns(rank, common);
    else by_bits(rank, common);
    return common;
  }

 private:
  std::uint64_t* row(int rank) { return bits_.data() + words_ * static_cast<std::size_t>(rank); }

  void by_bits(int rank, std::vector<std::uint32_t>& result) {
    const std::uint64_t* own = row(rank);
    for (int other = 0; other < matrix_.ranks(); ++other) {
      const std::uint64_t* theirs = row(other);
      std::uint32_t common = 0;
      for (std::size_t w = 0; w < words_; ++w) common += static_cast<std::uint32_t>(std::popcount(own[w] & theirs[w]));
      result[other] = common;
    }
  }

  void along_columns(int rank, std::vector<std::uint32_t>& result) {
    for (std::int32_t target : matrix_.targets(rank))
      for (BlockNumber b : matrix_.column(target)) ++result[matrix_.origin(b)];
  }

  const CommunicationMatrix& matrix_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::vector<std::uint32_t>> common_;  // by rank, empty: not yet counted; or only one, for whoever asks
};

}  // namespace tonari
