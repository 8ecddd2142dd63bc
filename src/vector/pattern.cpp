// SPDX-License-Identifier: BSD-3-Clause
#include "vector/pattern.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/error.hpp"

namespace tonari {
namespace {

class Discovery {
 public:
  Discovery(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own, const VectorRoute& route)
      : bsp_(bsp), ranges_(ranges), own_(own), route_(route), rank_(bsp.here()[0]) {
    pattern_.owned = own.count;
    pattern_.separate = route.separate();
  }

  VectorPattern run(std::span<const std::int64_t> indices) {
    number_needs(indices);
    for (int s = 0; s < route_.stages(); ++s) {
      VectorStage stage = ask(s);
      bsp_.exchange();
      answer(stage);
      if (bsp_.max(!stage.gets.empty()) > 0) pattern_.stages.push_back(std::move(stage));
    }
    if (left_ != pattern_.slots)
      fail(Errc::internal, pattern_.slots - left_, " values are indices without an owner");
    pattern_.slots = static_cast<std::int64_t>(slots_.size());
    return std::move(pattern_);
  }

 private:
  struct Slot {
    std::int64_t index;
    std::int32_t owner;
    bool asked = false;
  };

  bool is_own(std::int64_t index) const {
    return index >= own_.first && index - own_.first < own_.count;
  }

  // Where each index is needed for the first time, so that repeats are found without a table of all
  // indices.
  std::vector<std::size_t> first_places(std::span<const std::int64_t> indices) const {
    std::vector<std::size_t> first(indices.size());
    for (std::size_t k = 0; k < first.size(); ++k) first[k] = k;
    if (std::ranges::adjacent_find(indices, std::greater_equal()) == indices.end()) return first;
    std::vector<std::size_t> order = first;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return indices[a] != indices[b] ? indices[a] < indices[b] : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (indices[order[i]] == indices[order[i - 1]]) first[order[i]] = first[order[i - 1]];
    return first;
  }

  void number_needs(std::span<const std::int64_t> indices) {
    const std::vector<std::size_t> first = first_places(indices);
    pattern_.needs.resize(indices.size());
    pattern_.ghost_count = static_cast<std::int64_t>(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (is_own(indices[k]))
        pattern_.needs[k] = indices[k] - own_.first;
      else
        pattern_.needs[k] = first[k] == k ? add_slot(indices[k]) : pattern_.needs[first[k]];
    pattern_.ghosts = static_cast<std::int64_t>(slots_.size());
    pattern_.slots = pattern_.ghosts;
  }

  ValueCode add_slot(std::int64_t index) {
    // lists tend to stay with one owner for a while
    if (index < part_.first || index >= part_.end) part_ = ranges_.part_of(index);
    slots_.push_back({index, part_.rank});
    return ~static_cast<ValueCode>(slots_.size() - 1);
  }

  // Requests of this rank, its own and those of others that it passes on.
  VectorStage ask(int s) {
    std::map<std::int32_t, std::vector<ValueCode>> by_peer;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].asked) continue;
      const std::int32_t next = route_.next(rank_, slots_[i].owner, slots_[i].index, s);
      if (next == rank_) continue;
      by_peer[next].push_back(~static_cast<ValueCode>(i));
      slots_[i].asked = true;
      ++left_;
    }
    VectorStage stage;
    std::vector<Word> message;
    for (auto& [peer, values] : by_peer) {
      message.clear();
      for (const ValueCode v : values)
        message.push_back(slots_[static_cast<std::size_t>(~v)].index);
      bsp_.send(0, peer, message);
      stage.gets.push_back({peer, std::move(values)});
    }
    return stage;
  }

  void answer(VectorStage& stage) {
    for (const BspMessage& asked : bsp_.inbox(0)) {
      VectorMessage& message = stage.gives.emplace_back(VectorMessage{asked.from, {}});
      message.values.reserve(asked.words.size());
      for (const std::int64_t index : asked.words)
        message.values.push_back(is_own(index) ? index - own_.first : slot_of(index));
    }
    pattern_.slots = static_cast<std::int64_t>(slots_.size());
  }

  // For others. If this rank needs the value, too, it has not asked for it yet: requests for one
  // value meet before they go on (vector/route.hpp).
  ValueCode slot_of(std::int64_t index) {
    for (; known_ < slots_.size(); ++known_) slot_at_.emplace(slots_[known_].index, known_);
    const auto found = slot_at_.find(index);
    return found != slot_at_.end() ? ~static_cast<ValueCode>(found->second) : add_slot(index);
  }

  BspComm& bsp_;
  const OwnedRanges& ranges_;
  const OwnedRange own_;
  const VectorRoute& route_;
  const std::int32_t rank_;
  VectorPattern pattern_;
  std::vector<Slot> slots_;
  OwnedRanges::Part part_{0, 0, -1};
  std::unordered_map<std::int64_t, std::size_t> slot_at_;  // only where requests are passed on
  std::size_t known_ = 0;
  std::int64_t left_ = 0;
};

std::vector<PlaceRun> runs_of(std::vector<std::int64_t> places) {
  std::ranges::sort(places);
  std::vector<PlaceRun> runs;
  for (const std::int64_t place : places)
    if (!runs.empty() && place <= runs.back().end)
      runs.back().end = place + 1;
    else
      runs.push_back({place, place + 1});
  return runs;
}

bool meet(const std::vector<PlaceRun>& a, const std::vector<PlaceRun>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].begin < b[j].end && b[j].begin < a[i].end) return true;
    ++(a[i].end <= b[j].begin ? i : j);
  }
  return false;
}

std::vector<std::int64_t> own_codes(const VectorPattern& pattern) {
  std::vector<std::int64_t> own;
  const auto add = [&](ValueCode code) {
    if (code >= 0) own.push_back(code);
  };
  for (const ValueCode code : pattern.needs) add(code);
  for (const VectorStage& stage : pattern.stages)
    for (const VectorMessage& m : stage.gives)
      for (const ValueCode code : m.values) add(code);
  return own;
}

}  // namespace

VectorPattern discover(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own,
                       std::span<const std::int64_t> indices, const VectorRoute& route) {
  return Discovery(bsp, ranges, own, route).run(indices);
}

void list_places(VectorPattern& pattern, std::vector<std::int64_t> ghost_places) {
  pattern.ghost_places = std::move(ghost_places);
  if (!pattern.ghost_places.empty())
    pattern.ghost_count = *std::ranges::max_element(pattern.ghost_places) + 1;
  std::vector<std::int64_t> ghosts(pattern.needs.size());
  for (std::size_t k = 0; k < ghosts.size(); ++k) ghosts[k] = pattern.ghost_place(k);
  ListedPlaces& listed = pattern.listed.emplace();
  listed.owned = runs_of(own_codes(pattern)), listed.ghosts = runs_of(std::move(ghosts));
  listed.meet = meet(listed.owned, listed.ghosts);
}

}  // namespace tonari
