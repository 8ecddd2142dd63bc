// SPDX-License-Identifier: BSD-3-Clause
// Phase II of message sharing (Duymuş 2021, Algorithm 4).
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "planners/patterns/message_sharing.hpp"

namespace tonari {
namespace {

// Messages after Phase I are the edges of a graph; moving one puts a rank into its middle.
class PhaseTwo {
 public:
  explicit PhaseTwo(const CommunicationMatrix& after)
      : after_(after),
        helper_(after.blocks(), nobody),
        still_own_(after.blocks(), true),
        more_(static_cast<std::size_t>(after.ranks())),
        cursor_(static_cast<std::size_t>(after.ranks())) {
    for (int r = 0; r < after.ranks(); ++r) {
      sent_.push_back(after.sent_by(r));
      order_.emplace(sent_[r], r);
      cursor_[r] = after.first_of(r);
    }
    total_ = static_cast<std::int64_t>(after.blocks());
  }

  void run() {
    for (;;) {
      const int most = lowest_of(order_.rbegin()->first), least = order_.begin()->second;
      const int average = static_cast<int>((total_ + after_.ranks() - 1) / after_.ranks());
      if (sent_[most] <= average) return;
      const int alpha = std::min((sent_[most] - sent_[least]) / 2, average - sent_[least]);
      if (!move(most, least, alpha) && !move_to_receiver(most, average) && !move_to_anyone(most))
        return;
    }
  }

  // By message; `nobody`: it was not moved.
  const std::vector<std::int32_t>& helpers() const { return helper_; }
  static constexpr std::int32_t nobody = no_helper;

 private:
  static constexpr int most_tried = 1024;

  int lowest_of(int sent) const { return order_.lower_bound({sent, 0})->second; }

  // Returns whether P_max sends less after it.
  bool move(int most, int least, int alpha) {
    const int overhead = !writes(most, least);
    std::vector<BlockNumber> edges;
    const BlockNumber end = after_.first_of(most) + static_cast<BlockNumber>(after_.sent_by(most));
    int lifted = 0;  // messages that P_min did not send yet
    for (BlockNumber e = cursor_[most];
         e < end && lifted < alpha && static_cast<int>(edges.size()) < alpha + overhead; ++e) {
      if (!still_own_[e] || after_.target(e) == least) continue;
      edges.push_back(e);
      lifted += !writes(least, after_.target(e));
    }
    if (static_cast<int>(edges.size()) <= overhead) return false;
    for (BlockNumber e : edges) take_over(e, least);
    bundle(most, least);
    while (cursor_[most] < end && !still_own_[cursor_[most]]) ++cursor_[most];
    return true;
  }

  bool move_to_receiver(int most, int average) {
    std::vector<int> receivers(after_.targets(most).begin(), after_.targets(most).end());
    receivers.insert(receivers.end(), more_[most].begin(), more_[most].end());
    for (int receiver : receivers)
      if (const int room = average - sent_[receiver];
          room > 0 && writes(most, receiver) &&
          move(most, receiver, std::min(room, sent_[most] - average)))
        return true;
    return false;
  }

  // Above the average, as long as P_max stays above them. A rank that writes to P_max's targets
  // anyway is lifted least.
  bool move_to_anyone(int most) {
    std::vector<int> helpers;
    for (auto next = order_.begin();
         next->first + 1 < sent_[most] && static_cast<int>(helpers.size()) < most_tried; ++next)
      helpers.push_back(next->second);
    return std::any_of(helpers.begin(), helpers.end(), [&](int helper) {
      return move(most, helper, (sent_[most] - sent_[helper]) / 2);
    });
  }

  void take_over(BlockNumber e, int least) {
    helper_[e] = least;
    still_own_[e] = false;
    change(after_.origin(e), -1);
    bundle(least, after_.target(e));
  }

  // A message that carries more from now on, and so stays where it is.
  void bundle(int from, int to) {
    if (const BlockNumber e = after_.find(from, to);
        e != CommunicationMatrix::none && helper_[e] == nobody)
      still_own_[e] = false;
    else if (more_[from].insert(to).second)
      change(from, 1);
  }

  bool writes(int from, int to) const {
    const BlockNumber e = after_.find(from, to);
    return (e != CommunicationMatrix::none && helper_[e] == nobody) || more_[from].contains(to);
  }

  void change(int rank, int by) {
    order_.erase({sent_[rank], rank});
    order_.emplace(sent_[rank] += by, rank);
    total_ += by;
  }

  const CommunicationMatrix& after_;
  std::vector<std::int32_t> helper_;  // by edge
  std::vector<bool> still_own_;       // may move
  std::vector<std::set<int>> more_;   // targets of messages that were not there before
  std::vector<BlockNumber> cursor_;   // no edge of the row before this one may move
  std::vector<int> sent_;
  std::set<std::pair<int, int>> order_;  // messages sent, rank
  std::int64_t total_ = 0;
};

}  // namespace

Routes helped_routes(const CommunicationMatrix& matrix, const SharedSenders& shared,
                     const CommunicationMatrix& after, const std::vector<std::int32_t>& helpers) {
  Routes routes;
  std::vector<std::int32_t> via;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    via.assign(1, matrix.origin(b));
    for (const std::int32_t next : {shared.sender[b], matrix.target(b)}) {
      if (next == via.back()) continue;
      if (const std::int32_t helper = helpers[after.find(via.back(), next)]; helper != no_helper)
        via.push_back(helper);
      via.push_back(next);
    }
    routes.add(via);
  }
  return routes;
}

Routes second_phase_routes(const CommunicationMatrix& matrix, const SharedSenders& shared) {
  if (matrix.ranks() == 0) return sharing_routes(matrix, shared);
  const CommunicationMatrix after = second_hop_matrix(matrix, shared);
  PhaseTwo second(after);
  second.run();
  Routes routes = helped_routes(matrix, shared, after, second.helpers());
  routes.allow_detours();
  return routes;
}

Routes share_messages(const CommunicationMatrix& matrix, int phases, Stop stop) {
  if (phases != 1 && phases != 2)
    fail(Errc::argument, "message sharing with ", phases, " phases: give 1 or 2");
  const SharedSenders shared = share_common_messages(matrix, stop);
  return phases == 1 ? sharing_routes(matrix, shared) : second_phase_routes(matrix, shared);
}

}  // namespace tonari
