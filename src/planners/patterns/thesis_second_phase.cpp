// SPDX-License-Identifier: BSD-3-Clause
// Phase II as the thesis has it (Duymuş 2021, Algorithm 4).
#include <algorithm>
#include <unordered_set>

#include "base/error.hpp"
#include "planners/patterns/thesis_sharing.hpp"

namespace tonari {
namespace {

class ThesisPhaseTwo {
 public:
  ThesisPhaseTwo(const CommunicationMatrix& after, ThesisHelpers& result)
      : after_(after), result_(result) {
    for (int r = 0; r < after.ranks(); ++r) result.counted.push_back(after.sent_by(r));
    result.helper.assign(after.blocks(), ThesisHelpers::nobody);
  }

  void run() {
    for (bool lowered = after_.ranks() > 0; lowered;) {
      auto& counted = result_.counted;
      const auto most =
          static_cast<std::int32_t>(std::ranges::max_element(counted) - counted.begin());
      const auto least =
          static_cast<std::int32_t>(std::ranges::min_element(counted) - counted.begin());
      const int before = counted[most];
      move(most, least, (before - counted[least]) / 2);
      result_.pairings.push_back({most, least, before, counted[most]});
      lowered = counted[most] != before;
    }
  }

 private:
  // Lines 13 to 28.
  void move(int most, int least, int alpha) {
    for (BlockNumber e : after_.row(most)) {
      const std::int32_t target = after_.target(e);
      if (alpha == 0) return;
      const bool own = result_.helper[e] == ThesisHelpers::nobody;
      if (!own || target == least || transferred_.contains(tuple(most, target))) continue;
      result_.helper[e] = least;
      --result_.counted[most];
      transferred_.insert(tuple(least, target));
      --alpha;
      result_.counted[least] += after_.find(least, target) == CommunicationMatrix::none;
    }
  }

  std::uint64_t tuple(int rank, int target) const {
    return static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(after_.ranks()) +
           static_cast<std::uint64_t>(target);
  }

  const CommunicationMatrix& after_;
  ThesisHelpers& result_;
  std::unordered_set<std::uint64_t>
      transferred_;  // ranks that were given a message, and its target
};

}  // namespace

ThesisHelpers thesis_helpers(const CommunicationMatrix& after) {
  ThesisHelpers result;
  ThesisPhaseTwo(after, result).run();
  return result;
}

Routes thesis_routes(const CommunicationMatrix& matrix, int phases) {
  if (phases != 1 && phases != 2)
    fail(Errc::argument, "message sharing with ", phases, " phases: give 1 or 2");
  const SharedSenders shared{thesis_senders(matrix).sender};
  if (phases == 1) return sharing_routes(matrix, shared);
  const CommunicationMatrix after = second_hop_matrix(matrix, shared);
  return helped_routes(matrix, shared, after, thesis_helpers(after).helper);
}

}  // namespace tonari
