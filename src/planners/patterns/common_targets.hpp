// SPDX-License-Identifier: BSD-3-Clause
// With how many ranks a rank shares how many targets (Duymuş 2021, §4.3.1).
//
//   columns     long: bits of its senders  ─ 8 at a time ─▶  a byte per rank  ─▶  counts
//   of targets  short: list of senders  ────── one by one ──────────────────▶
//
// In a power law nearly every rank writes to a few targets. Going through such a column by bits
// costs an eighth of a step per rank, whether it sends or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "planners/patterns/communication_matrix.hpp"

namespace tonari {

struct CommonCount {
  std::int32_t rank;
  std::uint32_t targets;
};

class CommonTargets {
 public:
  explicit CommonTargets(const CommunicationMatrix& matrix)
      : matrix_(matrix),
        eights_((static_cast<std::size_t>(matrix.ranks()) + 7) / 8),
        long_(static_cast<std::size_t>(matrix.ranks()), none),
        common_(8 * eights_, 0),
        bytes_(eights_, 0),
        known_(static_cast<std::size_t>(matrix.ranks())) {
    for (int target = 0; target < matrix.ranks(); ++target) {
      const auto column = matrix.column(target);
      if (column.size() < 2 || 32 * column.size() < common_.size()) continue;
      long_[target] = bits_.size();
      bits_.resize(bits_.size() + eights_, 0);
      for (BlockNumber b : column)
        bits_[long_[target] + static_cast<std::size_t>(matrix.origin(b)) / 8] |=
            static_cast<std::uint8_t>(1 << matrix.origin(b) % 8);
    }
  }

  // The `wanted` others with the largest |SendSet(rank) n SendSet(other)|, of those for which it is
  // at least 2, and all that equal the last of them; or more. Those with the most first, of equal
  // ones the lowest rank. If these are fewer than wanted, there are no others. Valid until the next
  // call.
  std::span<const CommonCount> of(int rank, std::size_t wanted = ~std::size_t{0}) {
    Known& known = known_[rank];
    if (known.wanted >= wanted) return known.counts;
    count(rank, wanted);
    if (kept_ + most_.size() > most_kept) return most_;
    kept_ += most_.size() - known.counts.size();
    known = {most_, wanted};
    return known.counts;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0}, most_kept = std::size_t{1} << 24;

  struct Known {
    std::vector<CommonCount> counts;
    std::size_t wanted = 0;
  };

  // Bit k of a byte to byte k of eight.
  static constexpr auto spread = [] {
    std::array<std::uint64_t, 256> all{};
    for (unsigned byte = 0; byte < 256; ++byte)
      for (unsigned k = 0; k < 8; ++k) all[byte] |= std::uint64_t{byte >> k & 1} << 8 * k;
    return all;
  }();

  void count(int rank, std::size_t wanted) {
    touched_.clear();
    int unread = 0;  // columns in bytes_, which hold 255 at most
    bool all = false;
    for (std::int32_t target : matrix_.targets(rank)) {
      if (long_[target] == none) {
        for (BlockNumber b : matrix_.column(target))
          if (common_[matrix_.origin(b)]++ == 0) touched_.push_back(matrix_.origin(b));
        continue;
      }
      const std::uint8_t* bits = bits_.data() + long_[target];
      for (std::size_t k = 0; k < eights_; ++k) bytes_[k] += spread[bits[k]];
      all = true;
      if (++unread == 255) read_bytes(), unread = 0;
    }
    if (unread > 0) read_bytes();
    common_[rank] = 0;
    if (all)
      choose(std::views::iota(0, matrix_.ranks()), wanted);
    else
      choose(touched_, wanted);
    if (all)
      std::fill(common_.begin(), common_.end(), 0);
    else
      for (std::int32_t other : touched_) common_[other] = 0;
  }

  void read_bytes() {
    for (std::size_t k = 0; k < eights_; ++k) {
      for (std::size_t i = 0; i < 8; ++i) common_[8 * k + i] += bytes_[k] >> 8 * i & 255;
      bytes_[k] = 0;
    }
  }

  template <class Others>
  void choose(const Others& others, std::size_t wanted) {
    tally_.clear();
    for (std::int32_t other : others) {
      if (common_[other] >= tally_.size()) tally_.resize(common_[other] + 1, 0);
      ++tally_[common_[other]];
    }
    std::size_t least = tally_.size(), found = 0;
    while (least > 2 && found < wanted) found += tally_[--least];
    most_.clear();
    for (std::int32_t other : others)
      if (common_[other] >= least && least >= 2) most_.push_back({other, common_[other]});
    std::sort(most_.begin(), most_.end(), [](const CommonCount& a, const CommonCount& b) {
      return a.targets != b.targets ? a.targets > b.targets : a.rank < b.rank;
    });
  }

  const CommunicationMatrix& matrix_;
  std::size_t eights_;
  std::vector<std::size_t> long_;      // by target: where its bits begin
  std::vector<std::uint8_t> bits_;     // eights_ bytes per long column
  std::vector<std::uint32_t> common_;  // by rank, zeros between calls
  std::vector<std::uint64_t> bytes_;   // by rank, a byte each, zeros between calls
  std::vector<std::int32_t> touched_;
  std::vector<std::uint32_t> tally_;  // how many ranks have this many in common
  std::vector<CommonCount> most_;
  std::vector<Known> known_;
  std::size_t kept_ = 0;
};

}  // namespace tonari
