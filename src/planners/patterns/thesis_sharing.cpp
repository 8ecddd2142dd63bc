// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/thesis_sharing.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "planners/patterns/pair_counts.hpp"

namespace tonari {
namespace {

// Blocks of the two of a pair for one target.
struct CommonBlocks {
  BlockNumber most, other;
};

// C of §4.1, found as in Fig. 4.4.
std::vector<CommonBlocks> common_blocks(const CommunicationMatrix& matrix, int most, int other) {
  const auto a = matrix.targets(most), b = matrix.targets(other);
  std::vector<CommonBlocks> all;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int32_t left = a[i], right = b[j];
    if (left == right)
      all.push_back({matrix.first_of(most) + static_cast<BlockNumber>(i),
                     matrix.first_of(other) + static_cast<BlockNumber>(j)});
    i += left <= right;
    j += right <= left;
  }
  return all;
}

// The arrays of Phase I, and how many blocks each rank sends through which.
class ThesisState {
 public:
  ThesisState(const CommunicationMatrix& matrix, ThesisSenders& state)
      : matrix_(matrix), state_(state), through_(matrix.ranks(), matrix.blocks()) {
    for (BlockNumber b = 0; b < matrix.blocks(); ++b)
      if (!own(b)) through_.add(matrix.origin(b), state.sender[b]);
  }

  int counted(int rank) const { return state_.counted[rank]; }

  void pair(int most, int other) {
    const auto common = common_blocks(matrix_, most, other);
    for (const auto& [a, b] : common) use_group(a, b, other);
    for (const auto& [a, b] : common) use_group(b, a, most);
    share(most, other, common);
  }

 private:
  bool own(BlockNumber b) const { return state_.sender[b] == matrix_.origin(b); }

  void give(BlockNumber b, std::int32_t to) {
    state_.sender[b] = to;
    through_.add(matrix_.origin(b), to);
    --state_.counted[matrix_.origin(b)];
  }

  // Algorithm 3.
  bool in_group(BlockNumber b) const {
    return through_.count(matrix_.origin(b), matrix_.target(b)) > 0;
  }

  // `block` is sent by its origin, and that of the other one of the pair, `member`, by a third.
  void use_group(BlockNumber block, BlockNumber theirs, std::int32_t member) {
    const std::int32_t group = state_.sender[theirs];
    if (own(block) && group != member && group != matrix_.origin(block) && !in_group(block))
      give(block, group);
  }

  // Algorithm 2.
  void share(int most, int other, const std::vector<CommonBlocks>& common) {
    const auto both_own = [this](const CommonBlocks& c) { return own(c.most) && own(c.other); };
    const int size = static_cast<int>(std::ranges::count_if(common, both_own));
    const int difference = counted(most) - counted(other);
    const int alpha = size <= difference ? size : (size + difference) / 2;
    int shared = 0;
    for (const CommonBlocks& c : common) {
      if (!both_own(c)) continue;
      const bool forth = shared < alpha;
      const BlockNumber block = forth ? c.most : c.other;
      if (in_group(block)) continue;
      give(block, forth ? other : most);
      ++shared;
    }
  }

  const CommunicationMatrix& matrix_;
  ThesisSenders& state_;
  PairCounts through_;
};

class Friends {
 public:
  explicit Friends(const CommunicationMatrix& matrix)
      : matrix_(matrix),
        common_(static_cast<std::size_t>(matrix.ranks()), 0),
        found_(common_.size(), unknown) {}

  std::int32_t of(int most) {
    if (found_[most] == unknown) found_[most] = find(most);
    return found_[most];
  }

 private:
  static constexpr std::int32_t unknown = -2;

  std::int32_t find(int most) {
    std::ranges::fill(common_, 0);
    for (std::int32_t target : matrix_.targets(most))
      for (BlockNumber b : matrix_.column(target)) ++common_[matrix_.origin(b)];
    std::int32_t best = -1;
    for (int r = 0; r < matrix_.ranks(); ++r)
      if (r != most && (best < 0 || common_[r] > common_[best])) best = r;
    return best;
  }

  const CommunicationMatrix& matrix_;
  std::vector<int> common_;          // by rank, with the one that is asked for
  std::vector<std::int32_t> found_;  // by rank
};

}  // namespace

ThesisSenders thesis_start(const CommunicationMatrix& matrix) {
  ThesisSenders state;
  for (int r = 0; r < matrix.ranks(); ++r) state.counted.push_back(matrix.sent_by(r));
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) state.sender.push_back(matrix.origin(b));
  return state;
}

void thesis_pair(const CommunicationMatrix& matrix, int most, int other, ThesisSenders& state) {
  ThesisState(matrix, state).pair(most, other);
}

// Algorithm 1.
ThesisSenders thesis_senders(const CommunicationMatrix& matrix) {
  ThesisSenders result = thesis_start(matrix);
  if (matrix.ranks() < 2) return result;
  ThesisState state(matrix, result);
  Friends friends(matrix);
  for (bool lowered = true; lowered;) {
    const auto most = static_cast<std::int32_t>(std::ranges::max_element(result.counted) -
                                                result.counted.begin());
    const std::int32_t other = friends.of(most);
    const int before = state.counted(most);
    state.pair(most, other);
    result.pairings.push_back({most, other, before, state.counted(most)});
    lowered = state.counted(most) != before;
  }
  return result;
}

}  // namespace tonari
