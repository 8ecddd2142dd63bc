// SPDX-License-Identifier: BSD-3-Clause
// The model in its shortest form: one queue, from which what cannot go on yet is put back. It is
// slow, and knows nothing of shared programs, of queues per rank and of matches made beforehand.
#pragma once

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "simulate/machine.hpp"
#include "simulate/schedule.hpp"

namespace tonari::sim {

struct NaiveStep {
  Step step;  // the peer is a rank
  std::uint32_t tag = 0;
  std::vector<std::uint32_t> after_done, after_started;
};
using NaivePrograms = std::vector<std::vector<NaiveStep>>;  // of each rank

class Naive {
 public:
  Naive(NaivePrograms programs, const Machine& machine)
      : programs_(std::move(programs)),
        m_(machine),
        free_(programs_.size()),
        out_(programs_.size()),
        in_(programs_.size()),
        posted_(programs_.size()),
        arrived_(programs_.size()),
        ready_(programs_.size()) {}

  Ticks run() {
    for (std::uint32_t rank = 0; rank < programs_.size(); ++rank)
      for (std::uint32_t k = 0; k < programs_[rank].size(); ++k)
        if (programs_[rank][k].step.waits == 0) ready_[rank].push_back(k);
    release();
    while (!queue_.empty()) {
      Item item = queue_.top();
      queue_.pop();
      now_ = item.time;
      const Ticks possible = possible_at(item);
      if (possible > now_) {
        item.time = possible;
        queue_.push(item);
        continue;
      }
      perform(item);
      release();
    }
    return *std::max_element(free_.begin(), free_.end());
  }

 private:
  struct Item {
    Ticks time;
    std::uint64_t order;
    std::uint32_t rank, step;  // of the sender, where it is a message
    bool message;
    bool operator<(const Item& b) const {
      return std::tie(time, order) > std::tie(b.time, b.order);
    }
  };
  struct Known {  // a message or a receive that waits for the other
    std::uint32_t rank, step;
  };

  const NaiveStep& at(std::uint32_t rank, std::uint32_t k) const { return programs_[rank][k]; }
  const Link& link(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return m_.self;
    return a / m_.ranks_per_node == b / m_.ranks_per_node ? m_.node : m_.network;
  }
  std::size_t nic(std::uint32_t rank) const { return rank / m_.ranks_per_nic; }

  Ticks possible_at(const Item& i) const {
    const Step& step = at(i.rank, i.step).step;
    if (i.message) {
      const Ticks in = link(i.rank, step.peer).interface ? in_[nic(step.peer)] : 0;
      return std::max(free_[step.peer], in);
    }
    if (step.act == Act::recv) return 0;
    const bool out = step.act == Act::send && link(i.rank, step.peer).interface;
    return std::max(free_[i.rank], out ? out_[nic(i.rank)] : 0);
  }

  Ticks ends(std::uint32_t rank, Ticks length) const {
    Ticks end = now_ + length;
    if (m_.noise.period == 0) return end;
    std::uint64_t x = m_.noise.seed * 0x9e3779b97f4a7c15 + rank;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    for (Ticks t = (x ^ x >> 31) % m_.noise.period; t < end; t += m_.noise.period)
      if (t >= now_) end += m_.noise.duration;
    return end;
  }

  void perform(const Item& i) {
    const Step& step = at(i.rank, i.step).step;
    if (i.message) return take(i, step);
    started(i.rank, i.step);
    if (step.act == Act::calc) {
      free_[i.rank] = ends(i.rank, step.size);
      done(i.rank, i.step);
    } else if (step.act == Act::send) {
      send(i, step);
    } else {
      auto& early = arrived_[i.rank];
      const auto found = std::find_if(early.begin(), early.end(), [&](const Known& message) {
        return fits(at(i.rank, i.step), message.rank, at(message.rank, message.step));
      });
      if (found == early.end()) return posted_[i.rank].push_back({i.rank, i.step});
      const Known message = *found;
      early.erase(found);
      meet(i.rank, i.step, message);
    }
  }
  static bool fits(const NaiveStep& receive, std::uint32_t from, const NaiveStep& message) {
    return (receive.step.peer == any || receive.step.peer == from) &&
           (receive.tag == any || message.tag == any || receive.tag == message.tag);
  }

  void send(const Item& i, const Step& step) {
    const Link& way = link(i.rank, step.peer);
    free_[i.rank] = ends(i.rank, way.overhead);
    if (way.interface) out_[nic(i.rank)] = now_ + way.gap + (step.size - 1) * way.byte;
    const bool waits = way.interface && step.size > m_.eager;
    const Ticks far = way.interface ? m_.hop * hops(m_.topology, i.rank / m_.ranks_per_node,
                                                    step.peer / m_.ranks_per_node)
                                    : 0;
    queue_.push({free_[i.rank] + way.latency + far + (waits ? m_.rendezvous : 0), order_++, i.rank,
                 i.step, true});
    if (!waits) done(i.rank, i.step);
  }

  void take(const Item& i, const Step& step) {
    const std::uint32_t here = step.peer;
    const Link& way = link(i.rank, here);
    free_[here] = ends(here, way.overhead + (step.size - 1) * way.byte);
    if (way.interface) in_[nic(here)] = now_ + way.gap + (step.size - 1) * way.byte;
    auto& posted = posted_[here];
    const auto found = std::find_if(posted.begin(), posted.end(), [&](const Known& receive) {
      return fits(at(here, receive.step), i.rank, at(i.rank, i.step));
    });
    if (found == posted.end()) return arrived_[here].push_back({i.rank, i.step});
    const std::uint32_t receive = found->step;
    posted.erase(found);
    meet(here, receive, {i.rank, i.step});
  }

  void meet(std::uint32_t rank, std::uint32_t receive, const Known& message) {
    const Step& sent = at(message.rank, message.step).step;
    if (link(message.rank, rank).interface && sent.size > m_.eager) {
      free_[message.rank] = std::max(free_[message.rank], now_);
      out_[nic(message.rank)] = std::max(out_[nic(message.rank)], now_);
      done(message.rank, message.step);
    }
    done(rank, receive);
  }

  void started(std::uint32_t rank, std::uint32_t k) { follow(rank, at(rank, k).after_started); }
  void done(std::uint32_t rank, std::uint32_t k) { follow(rank, at(rank, k).after_done); }
  void follow(std::uint32_t rank, const std::vector<std::uint32_t>& after) {
    for (std::uint32_t next : after)
      if (--programs_[rank][next].step.waits == 0) ready_[rank].push_back(next);
  }
  void release() {
    for (std::uint32_t rank = 0; rank < programs_.size(); ++rank) {
      auto& ready = ready_[rank];
      std::stable_sort(ready.begin(), ready.end(), [&](std::uint32_t a, std::uint32_t b) {
        return at(rank, a).step.act < at(rank, b).step.act;
      });
      for (std::uint32_t k : ready)
        queue_.push({std::max(now_, free_[rank]), order_++, rank, k, false});
      ready.clear();
    }
  }

  NaivePrograms programs_;
  Machine m_;
  std::vector<Ticks> free_, out_, in_;
  std::vector<std::deque<Known>> posted_, arrived_;
  std::vector<std::vector<std::uint32_t>> ready_;
  std::priority_queue<Item> queue_;
  Ticks now_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace tonari::sim
