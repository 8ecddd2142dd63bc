// SPDX-License-Identifier: BSD-3-Clause
#include "watch/matches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tonari::watch {
namespace {

Partner partner(const Outline& one, int rank) {
  const auto found = std::ranges::lower_bound(one.partners, rank, {}, &Partner::rank);
  return found != one.partners.end() && found->rank == rank ? *found : Partner{.rank = rank};
}

bool expects_anyone(const Outline& one) {
  return !one.partners.empty() && one.partners.front().rank < 0;
}

// Whether `to` may receive what `from` sends it.
bool takes(const Outline& from, const Outline& to) {
  const Partner out = partner(from, to.rank), in = partner(to, from.rank);
  if (expects_anyone(to)) return in.received <= out.sent;
  return out.sent == in.received && (from.varies || to.varies || out.bytes <= in.room);
}

bool fit(const Outline& a, const Outline& b) {
  const auto [fewer, more] = std::minmax(a.epochs, b.epochs);
  if ((a.parts > 0) != (b.parts > 0)) return false;
  return takes(a, b) && takes(b, a) && more - fewer <= more / 10;
}

bool sizes_are_equal(const Outline& a, const Outline& b) {
  const Partner out = partner(a, b.rank), in = partner(b, a.rank);
  return a.varies == b.varies && out.bytes == in.room && in.bytes == out.room;
}

class Matching {
 public:
  explicit Matching(const std::vector<Outline>& all) : all_(all), taken_(all.size()) {
    for (std::size_t k = 0; k < all.size(); ++k) of_rank_[all[k].rank].push_back(k);
  }

  std::vector<Match> matches() {
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t k) { return all_[k].seconds; });
    for (const std::size_t seed : order)
      if (!taken_[seed]) join(grown(seed));
    std::ranges::stable_sort(matches_, std::ranges::greater{}, &Match::seconds);
    for (Match& match : matches_)
      match.wanted =
          std::ranges::any_of(match.members, [&](std::size_t k) { return all_[k].parts != 1; });
    return matches_;
  }

 private:
  // From a pattern over its partners to theirs.
  Match grown(std::size_t seed) {
    Match match{.key = all_[seed].key, .members = {}};
    std::map<int, std::size_t> there;
    const auto take = [&](std::size_t one) {
      taken_[one] = true;
      there[all_[one].rank] = one;
      match.members.push_back(one);
      match.seconds += all_[one].seconds;
    };
    take(seed);
    for (std::size_t next = 0; next < match.members.size(); ++next) {
      const Outline& one = all_[match.members[next]];
      for (const Partner& edge : one.partners) {
        if (edge.rank < 0) continue;
        const auto known = there.find(edge.rank);
        if (known == there.end()) {
          const std::optional<std::size_t> found = best_fit(one, edge.rank);
          if (found)
            take(*found);
          else
            match.whole = false;
        } else if (!takes(one, all_[known->second]) || !takes(all_[known->second], one)) {
          match.whole = false;
        }
      }
    }
    return match;
  }

  // The pattern of a rank that is most like the other end of this one.
  std::optional<std::size_t> best_fit(const Outline& one, int rank) {
    std::optional<std::size_t> best;
    std::tuple<bool, bool> how;
    for (const std::size_t k : of_rank_[rank]) {
      if (taken_[k] || !fit(one, all_[k])) continue;
      const std::tuple<bool, bool> this_one{sizes_are_equal(one, all_[k]), one.key == all_[k].key};
      if (!best || this_one > how) best = k, how = this_one;
    }
    return best;
  }

  bool has_any_rank_of(const Match& match, const Match& other) const {
    return std::ranges::any_of(other.members, [&](std::size_t k) {
      return std::ranges::any_of(match.members,
                                 [&](std::size_t m) { return all_[m].rank == all_[k].rank; });
    });
  }

  std::set<std::uint64_t> keys_of(const Match& match) const {
    std::set<std::uint64_t> keys;
    for (const std::size_t k : match.members) keys.insert(all_[k].key);
    return keys;
  }

  // Rows of a grid of ranks do the same in communicators of their own: that is one exchange. Where
  // ranks send in one pattern and receive in another, pairs of them overlap: that is none, however
  // long each of the two took.
  void join(Match match) {
    const auto is_same = [&, keys = keys_of(match)](const Match& other) {
      return other.key == match.key || keys_of(other) == keys;
    };
    const auto other = std::ranges::find_if(matches_, is_same);
    if (other == matches_.end()) return matches_.push_back(std::move(match));
    other->whole &= match.whole && !has_any_rank_of(*other, match);
    other->seconds += match.seconds;
    other->members.insert(other->members.end(), match.members.begin(), match.members.end());
  }

  const std::vector<Outline>& all_;
  std::vector<bool> taken_;
  std::map<int, std::vector<std::size_t>> of_rank_;
  std::vector<Match> matches_;
};

}  // namespace

std::vector<Match> matches_of(const std::vector<Outline>& outlines) {
  return Matching(outlines).matches();
}

}  // namespace tonari::watch
