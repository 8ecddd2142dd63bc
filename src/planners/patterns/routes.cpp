// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/routes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "planners/patterns/rebalanced.hpp"

namespace tonari {
namespace {

// A step of one block, and the message it belongs to. Steps of one block follow each other.
struct Step {
  std::int32_t from, to;
  BlockNumber block;
  std::uint32_t message;
  std::int32_t stage = -1;  // in which it leaves
  bool here = false;        // the block is at `from`
  bool gone() const { return stage >= 0; }
};

struct Parcel {
  std::uint32_t first, count;  // of order_
  std::uint32_t waiting = 0;   // steps whose block is not here
  std::uint32_t unseen = 0;    // no step before this one is waiting
  std::int32_t stage = 0;
};

class Combiner {
 public:
  Combiner(const CommunicationMatrix& matrix, const Routes& routes) : matrix_(matrix) {
    for (BlockNumber b = 0; b < routes.size(); ++b)
      for (std::size_t k = 1; k < routes[b].size(); ++k)
        steps_.push_back({.from = routes[b][k - 1],
                          .to = routes[b][k],
                          .block = b,
                          .message = 0,
                          .here = k == 1});
    gather();
    seen_.resize(steps_.size(), 0);
  }

  MessageSchedule run() {
    for (std::uint32_t m = 0; m < parcels_.size(); ++m)
      if (parcels_[m].waiting == 0) ready_.push_back(m);
    for (std::uint32_t m = 0;; split(m)) {
      while (!ready_.empty()) {
        const std::uint32_t next = ready_.back();
        ready_.pop_back();
        send(next);
      }
      while (m < parcels_.size() && parcels_[m].waiting == 0) ++m;
      if (m == parcels_.size()) break;
    }
    std::vector<BlockHop> hops;
    hops.reserve(steps_.size());
    for (const Step& step : steps_) hops.push_back({step.stage, step.from, step.to, step.block});
    return MessageSchedule(matrix_, std::move(hops));
  }

 private:
  // Steps between the same ranks make one parcel.
  void gather() {
    sent_.assign(static_cast<std::size_t>(matrix_.ranks()), 0);
    order_.resize(steps_.size());
    std::vector<std::uint32_t> by_to(steps_.size());
    const auto sort_by = [&](const auto& read, auto& write, std::int32_t Step::* key) {
      std::vector<std::uint32_t> place(static_cast<std::size_t>(matrix_.ranks()) + 1, 0);
      for (const Step& step : steps_) ++place[step.*key + 1];
      for (std::size_t r = 1; r < place.size(); ++r) place[r] += place[r - 1];
      for (std::uint32_t s = 0; s < steps_.size(); ++s)
        write[place[steps_[read(s)].*key]++] = read(s);
    };
    sort_by([](std::uint32_t s) { return s; }, by_to, &Step::to);
    sort_by([&](std::uint32_t s) { return by_to[s]; }, order_, &Step::from);
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
      Step& step = steps_[order_[k]];
      if (k == 0 || steps_[order_[k - 1]].from != step.from ||
          steps_[order_[k - 1]].to != step.to) {
        parcels_.push_back({k, 0});
        ++sent_[step.from];
      }
      step.message = static_cast<std::uint32_t>(parcels_.size() - 1);
      ++parcels_.back().count;
      parcels_.back().waiting += !step.here;
    }
  }

  std::span<const std::uint32_t> steps(const Parcel& p) const {
    return std::span(order_).subspan(p.first, p.count);
  }

  // The blocks that are here and have not left yet.
  void send(std::uint32_t m) {
    const Parcel& parcel = parcels_[m];
    for (std::uint32_t s : steps(parcel)) {
      Step& step = steps_[s];
      if (!step.here || step.gone()) continue;
      step.stage = parcel.stage;
      if (s + 1 < steps_.size() && steps_[s + 1].block == step.block)
        arrive(steps_[s + 1], parcel.stage);
    }
  }

  void arrive(Step& next, std::int32_t stage) {
    Parcel& parcel = parcels_[next.message];
    next.here = true;
    parcel.stage = std::max(parcel.stage, stage + 1);
    if (--parcel.waiting == 0) ready_.push_back(next.message);
  }

  std::uint32_t first_waiting(Parcel& parcel) {
    while (steps_[order_[parcel.first + parcel.unseen]].here) ++parcel.unseen;
    return order_[parcel.first + parcel.unseen];
  }

  // m waits, as does everyone: go from each waiting step to the one before it, and, where that
  // block is there already, to a step that its message waits for. This must end in a circle, and a
  // circle has at least one message that could send some blocks now: the one of them whose rank
  // sends the fewest.
  void split(std::uint32_t m) {
    std::uint32_t s = first_waiting(parcels_[m]);
    for (++walk_; seen_[s] != walk_; s = cause(s)) seen_[s] = walk_;
    std::uint32_t part = 0, next = s;
    int fewest = std::numeric_limits<int>::max();
    do {
      const Step& before = steps_[next - 1];
      if (before.here && sent_[before.from] < fewest)
        fewest = sent_[before.from], part = before.message;
      next = cause(next);
    } while (next != s);
    send(part);
    ++parcels_[part].stage;
    ++sent_[steps_[order_[parcels_[part].first]].from];
  }

  std::uint32_t cause(std::uint32_t s) {
    const Step& before = steps_[s - 1];
    return before.here ? first_waiting(parcels_[before.message]) : s - 1;
  }

  const CommunicationMatrix& matrix_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> order_;  // steps by message
  std::vector<Parcel> parcels_;
  std::vector<int> sent_;  // messages, by rank
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> seen_;  // by step: in which walk
  std::uint32_t walk_ = 0;
};

}  // namespace

void Routes::add(std::span<const std::int32_t> via) {
  const std::size_t begin = ranks_.size();
  for (std::int32_t rank : via) {
    const auto again =
        std::find(ranks_.begin() + static_cast<std::ptrdiff_t>(begin), ranks_.end(), rank);
    ranks_.erase(again, ranks_.end());
    ranks_.push_back(rank);
  }
  begin_.push_back(ranks_.size());
}

MessageSchedule combine(const CommunicationMatrix& matrix, const Routes& routes) {
  MessageSchedule schedule = Combiner(matrix, routes).run();
  return routes.detours() ? rebalanced(matrix, std::move(schedule)) : schedule;
}

}  // namespace tonari
