// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/message_sharing.hpp"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "base/error.hpp"
#include "planners/patterns/common_targets.hpp"
#include "planners/patterns/pair_counts.hpp"

namespace tonari {
namespace {

// Which rank sends which block, which messages that makes, and how to go back.
class Senders {
 public:
  Senders(const CommunicationMatrix& matrix, std::vector<std::int32_t> senders)
      : matrix_(matrix), sender_(std::move(senders)), counts_(matrix.ranks(), 2 * matrix.blocks()) {
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) count(b);
  }

  std::int32_t of(BlockNumber b) const { return sender_[b]; }
  bool direct(BlockNumber b) const { return sender_[b] == matrix_.origin(b); }
  int sent(int rank) const { return counts_.sent(rank); }
  bool writes(int from, int to) const { return counts_.count(from, to) > 0; }
  // its last message has no other block
  bool alone(BlockNumber b) const { return counts_.count(sender_[b], matrix_.target(b)) == 1; }

  void give(BlockNumber b, std::int32_t sender) {
    journal_.emplace_back(b, sender_[b]);
    set(b, sender);
  }
  void keep() { journal_.clear(); }
  void undo() {
    for (; !journal_.empty(); journal_.pop_back())
      set(journal_.back().first, journal_.back().second);
  }
  std::vector<std::int32_t> take() { return std::move(sender_); }

 private:
  void count(BlockNumber b) {
    if (!direct(b)) counts_.add(matrix_.origin(b), sender_[b]);
    counts_.add(sender_[b], matrix_.target(b));
  }
  void set(BlockNumber b, std::int32_t sender) {
    if (!direct(b)) counts_.remove(matrix_.origin(b), sender_[b]);
    counts_.remove(sender_[b], matrix_.target(b));
    sender_[b] = sender;
    count(b);
  }

  const CommunicationMatrix& matrix_;
  std::vector<std::int32_t> sender_;
  PairCounts counts_;
  std::vector<std::pair<BlockNumber, std::int32_t>> journal_;
};

// One pairing.
class Pairing {
 public:
  Pairing(const CommunicationMatrix& matrix, Senders& senders, int most, int other)
      : matrix_(matrix), senders_(senders), most_(most), friend_(other) {
    const auto a = matrix.targets(most), b = matrix.targets(other);
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j])
        common_.push_back({matrix.first_of(most) + static_cast<BlockNumber>(i),
                           matrix.first_of(other) + static_cast<BlockNumber>(j)});
      const bool first = a[i] <= b[j], second = b[j] <= a[i];
      i += first;
      j += second;
    }
  }

  void share() {
    use_group_of(friend_, most_, &Common::most, &Common::other);
    use_group_of(most_, friend_, &Common::other, &Common::most);
    share_equally();
  }

 private:
  struct Common {
    BlockNumber most, other;  // blocks of P_max and P_friend for one target
  };
  using Side = BlockNumber Common::*;

  // Cases 2 to 4: what `giver` still sends itself, while the block of `member` for the same target
  // goes by way of another rank, goes that way too.
  void use_group_of(int member, int giver, Side own, Side theirs) {
    delegated_.clear();
    for (const Common& c : common_) {
      const std::int32_t group = senders_.of(c.*theirs);
      if (senders_.direct(c.*own) && senders_.alone(c.*own) && group != member && group != giver &&
          group != matrix_.target(c.*own))
        delegated_.emplace_back(group, c.*own);
    }
    std::stable_sort(delegated_.begin(), delegated_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto begin = delegated_.begin(); begin != delegated_.end();) {
      const auto end = std::find_if(begin, delegated_.end(),
                                    [&](const auto& block) { return block.first != begin->first; });
      if (end - begin > 1 || senders_.writes(giver, begin->first))
        for (auto block = begin; block != end; ++block)
          // an earlier one may travel to this target
          if (senders_.alone(block->second)) senders_.give(block->second, block->first);
      begin = end;
    }
  }

  // Case 1, and the last step of the others: alpha blocks go one way, the rest the other way.
  void share_equally() {
    std::vector<const Common*> both;
    for (const Common& c : common_)
      if (senders_.direct(c.most) && senders_.direct(c.other) &&
          (senders_.alone(c.most) || senders_.alone(c.other)))
        both.push_back(&c);
    const int size = static_cast<int>(both.size());
    const int extra = !senders_.writes(most_, friend_),
              difference = senders_.sent(most_) + extra - senders_.sent(friend_);
    const int alpha = std::clamp((size + difference) / 2, 0, size);
    int given = 0;
    for (const Common* c : both)
      if (given < alpha && senders_.alone(c->most)) {
        senders_.give(c->most, friend_);
        ++given;
      }
    if (!senders_.writes(friend_, most_) && size - given < 2) return;
    int back = size - alpha;
    for (const Common* c : both)
      if (back > 0 && senders_.direct(c->most) && senders_.alone(c->other)) {
        senders_.give(c->other, most_);
        --back;
      }
  }

  const CommunicationMatrix& matrix_;
  Senders& senders_;
  int most_, friend_;
  std::vector<Common> common_;
  std::vector<std::pair<std::int32_t, BlockNumber>> delegated_;  // to whom, what
};

// Algorithm 1.
class PhaseOne {
 public:
  explicit PhaseOne(const CommunicationMatrix& matrix)
      : matrix_(matrix),
        common_(matrix),
        senders_(matrix, origins(matrix)),
        aside_(matrix.ranks(), false) {
    for (int r = 0; r < matrix.ranks(); ++r) busiest_.push({senders_.sent(r), -r});
  }

  SharedSenders run(Stop stop) {
    SharedSenders result;
    while (!busiest_.empty()) {
      const auto [sent, negative] = busiest_.top();
      const int most = -negative;
      busiest_.pop();
      if (aside_[most] || sent != senders_.sent(most)) continue;
      const int other = best_friend(most);
      if (other >= 0 && pair(most, other)) {
        ++result.pairings;
        busiest_.push({senders_.sent(most), -most});
      } else if (stop == Stop::bottleneck) {
        break;
      } else {
        aside_[most] = true;
      }
    }
    result.sender = senders_.take();
    return result;
  }

 private:
  static std::vector<std::int32_t> origins(const CommunicationMatrix& matrix) {
    std::vector<std::int32_t> all(matrix.blocks());
    for (BlockNumber b = 0; b < matrix.blocks(); ++b) all[b] = matrix.origin(b);
    return all;
  }

  std::uint64_t key(int a, int b) const {
    return static_cast<std::uint64_t>(std::min(a, b)) *
               static_cast<std::uint64_t>(matrix_.ranks()) +
           std::max(a, b);
  }

  // Those that share the most targets with it are remembered: a rank is paired with few of them.
  int best_friend(int most) {
    for (std::size_t wanted = 64;; wanted *= 4) {
      const auto others = common_.of(most, wanted);
      CommonCount best{-1, 0};
      for (const CommonCount& c : others) {
        if (c.targets < best.targets) break;
        if (best.rank >= 0 && std::pair(senders_.sent(c.rank), c.rank) >=
                                  std::pair(senders_.sent(best.rank), best.rank))
          continue;
        if (!paired_.contains(key(most, c.rank))) best = c;
      }
      if (best.rank >= 0 || others.size() < wanted) return best.rank;
    }
  }

  // Returns whether it helped.
  bool pair(int most, int other) {
    paired_.insert(key(most, other));
    const int before = senders_.sent(most), other_before = senders_.sent(other);
    Pairing(matrix_, senders_, most, other).share();
    const bool helps =
        senders_.sent(most) < before && senders_.sent(other) < std::max(before, other_before + 1);
    if (helps)
      senders_.keep();
    else
      senders_.undo();
    if (helps && senders_.sent(other) != other_before && !aside_[other])
      busiest_.push({senders_.sent(other), -other});
    return helps;
  }

  const CommunicationMatrix& matrix_;
  CommonTargets common_;
  Senders senders_;
  std::vector<bool> aside_;
  std::unordered_set<std::uint64_t> paired_;
  // messages sent and -rank; entries whose number is old are dropped
  std::priority_queue<std::pair<int, int>> busiest_;
};

}  // namespace

SharedSenders share_common_messages(const CommunicationMatrix& matrix, Stop stop) {
  return PhaseOne(matrix).run(stop);
}

void share_pair(const CommunicationMatrix& matrix, int a, int b,
                std::vector<std::int32_t>& senders) {
  Senders state(matrix, std::move(senders));
  Pairing(matrix, state, a, b).share();
  senders = state.take();
}

CommunicationMatrix second_hop_matrix(const CommunicationMatrix& matrix,
                                      const SharedSenders& shared) {
  std::vector<Flow> flows;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    const std::int32_t via = shared.sender[b];
    if (via != matrix.origin(b)) flows.push_back({matrix.origin(b), via, matrix.words(b)});
    flows.push_back({via, matrix.target(b), matrix.words(b)});
  }
  return CommunicationMatrix(matrix.ranks(), flows);
}

Routes sharing_routes(const CommunicationMatrix& matrix, const SharedSenders& shared) {
  Routes routes;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    routes.add(std::vector{matrix.origin(b), shared.sender[b], matrix.target(b)});
  return routes;
}

}  // namespace tonari
