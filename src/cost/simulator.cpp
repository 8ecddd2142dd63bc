// SPDX-License-Identifier: BSD-3-Clause
// A discrete-event simulation of plans under LogGP.
//
// Per rank there are one processor and one network interface:
//
//   ready op ──queue──▶ processor (o, copies) ──sends──▶ interface (g, G) ──L──▶ processor of the
//                                                                                receiver
//
// The processor takes what is ready in the order in which it became ready, as the engine does. Ties
// go by kind of event and number of operation, so equal input gives equal times, and symmetric
// ranks see symmetric times.
#include "cost/simulator.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cost/partners.hpp"

namespace tonari {
namespace {

// LogGP: (k-1) G
double gaps(std::uint64_t bytes, const LogGP& m) { return bytes > 0 ? units(bytes - 1) * m.G : 0; }

class Simulation {
 public:
  // bytes: one for all plans, or one per plan.
  Simulation(std::span<const Plan> plans, std::span<const BlockBytes> bytes, const LinkCosts& links)
      : plans_(plans), links_(links) {
    std::size_t total = 0;
    for (const Plan& plan : plans) total += plan.size();
    tasks_.reserve(total);
    queue_.resize(2 * total);
    for (std::uint32_t rank = 0; rank < plans.size(); ++rank) {
      const auto first = static_cast<std::uint32_t>(tasks_.size());
      begin_.push_back(first);
      processors_.push_back({2 * first, 2 * first});
      for (OpId op = 0; op < plans[rank].size(); ++op)
        tasks_.push_back(task(rank, op, bytes[bytes.size() == 1 ? 0 : rank]));
    }
    match();
  }

  double run() {
    start();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
      release();
    }
    if (completed_ != tasks_.size())
      fail(Errc::internal, "the plans never finish: ", tasks_.size() - completed_,
           " operations wait for each other");
    return end_;
  }

 private:
  // The order is that of events at one time, in which the processor chooses last.
  enum class What : std::uint8_t { arrived, left, granted, processor };
  static constexpr std::uint32_t no_task = ~0u;
  struct Event {
    double time;
    What what;
    std::uint32_t id;  // task; for `processor` events the rank
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.what, a.id) > std::tie(b.time, b.what, b.id);
    }
  };
  struct Task : Effort {  // an operation of some rank
    std::uint32_t rank, waiting;
    std::uint32_t partner;  // the other end of the message
    Kind kind;
    std::uint8_t parts = 1;  // not done yet; an exchange has a send and a receive
    // for a receive: it may take its message; for the send of a long message: it waits for that;
    // for an exchange: it waits for its partner
    bool posted = false;
    bool arrived = false;
    bool near = false;  // the other end is on this rank's node
  };
  struct Processor {
    std::uint32_t head, tail;  // in queue_: every task of a rank enters once, an exchange twice
    std::uint32_t current = no_task;
    bool scheduled = false;
    std::array<double, 2> interface_free = {};  // to other nodes, and on this one
  };

  Task task(std::uint32_t rank, OpId id, const BlockBytes& bytes) const {
    const Plan& plan = plans_[rank];
    const Operation& op = plan[id];
    const bool near = links_.near(plan.rank(), op.peer);
    const LinkCost& link = near ? links_.node : links_.network;
    return {effort_of(plan, op, bytes, link.machine, link.channel),
            rank,
            plan.predecessor_count(id),
            no_partner,
            op.kind,
            static_cast<std::uint8_t>(op.kind == Kind::exchange ? 2 : 1),
            false,
            false,
            near};
  }

  const LinkCost& link(const Task& t) const { return t.near ? links_.node : links_.network; }
  const LogGP& machine(const Task& t) const { return link(t).machine; }
  Cut cut(const Task& t) const { return {t.bytes, link(t).channel.segment}; }
  bool rendezvous(const Task& t) const { return cut(t).piece > machine(t).eager; }

  void match() {
    std::vector<std::uint64_t> bytes;
    bytes.reserve(tasks_.size());
    for (const Task& t : tasks_) bytes.push_back(t.bytes);
    const std::vector<std::uint32_t> other_end = partners(plans_, bytes);
    for (std::size_t id = 0; id < tasks_.size(); ++id) {
      Task& t = tasks_[id];
      t.partner = other_end[id];
      if (t.partner != no_partner &&
          (t.kind == Kind::exchange) != (tasks_[t.partner].kind == Kind::exchange))
        fail(Errc::internal, "an exchange of the plans meets a message");
    }
  }

  // Messages start first, and self blocks are copied while they travel, as in the engine.
  void start() {
    for (bool copies : {false, true})
      for (std::uint32_t id = 0; id < tasks_.size(); ++id)
        if (tasks_[id].waiting == 0 && (tasks_[id].kind == Kind::copy) == copies)
          ready_.push_back(id);
    release();
  }

  void handle(const Event& event) {
    switch (event.what) {
      case What::arrived:
        tasks_[event.id].arrived = true;
        if (tasks_[event.id].posted || tasks_[event.id].kind == Kind::exchange) enqueue(event.id);
        break;
      case What::left:
        part_done(event.id);
        break;
      case What::granted:
        events_.push({transmit(event.id, 0), What::left, event.id});
        break;
      case What::processor:
        next(event.id);
        break;
    }
  }

  // The processor finishes its task, if it had one, and takes the next.
  void next(std::uint32_t rank) {
    Processor& p = processors_[rank];
    if (p.current != no_task) processed(std::exchange(p.current, no_task));
    release();
    p.scheduled = false;
    if (p.head == p.tail) return;
    p.current = queue_[p.head++];
    wake(rank, now_ + tasks_[p.current].busy);
  }
  void wake(std::uint32_t rank, double time) {
    processors_[rank].scheduled = true;
    events_.push({time, What::processor, rank});
  }
  void enqueue(std::uint32_t id) {
    Processor& p = processors_[tasks_[id].rank];
    queue_[p.tail++] = id;
    if (!p.scheduled) wake(tasks_[id].rank, now_);
  }

  void processed(std::uint32_t id) {
    Task& t = tasks_[id];
    if (t.kind == Kind::exchange && t.posted) return sent(id);
    if (t.kind == Kind::send && rendezvous(t)) {
      t.posted = true;
      if (t.partner == no_partner || tasks_[t.partner].posted) grant(id);
      return;
    }
    if (t.kind == Kind::send) transmit(id, machine(t).o);
    part_done(id);
  }
  // Ends the first turn of an exchange: its bytes are on their way, or will be once the partner is
  // asked. What arrives takes another turn.
  void sent(std::uint32_t id) {
    Task& t = tasks_[id];
    t.posted = false;
    t.busy = t.receiving;
    if (rendezvous(t)) return grant(id);
    transmit(id, machine(t).o);
    part_done(id);
  }
  void grant(std::uint32_t send) {
    events_.push({now_ + machine(tasks_[send]).rendezvous, What::granted, send});
  }

  // The interface sends a message whose last segment it gets now; it got the earlier ones `apart`
  // seconds after each other. Returns when the last byte has left. The receiver takes segments as
  // they come. It begins when it can go on without a break until the last one, but not before the
  // first can have arrived.
  double transmit(std::uint32_t id, double apart) {
    const Task& t = tasks_[id];
    const LogGP& m = machine(t);
    const Cut c = cut(t);
    const double earlier = units(c.count - 1);
    double& free = processors_[t.rank].interface_free[t.near];
    const double last =
        std::max(now_, std::max(free, now_ - earlier * apart) + earlier * (m.g + gaps(c.piece, m)));
    const double left = last + gaps(c.last, m);
    free = left + m.g;
    const double here = std::max(left + m.L - earlier * m.o, now_ + m.L);
    if (t.partner != no_partner) events_.push({here, What::arrived, t.partner});
    return left;
  }

  void part_done(std::uint32_t id) {
    if (--tasks_[id].parts == 0) complete(id);
  }

  void complete(std::uint32_t id) {
    ++completed_;
    end_ = std::max(end_, now_);
    const std::uint32_t first = begin_[tasks_[id].rank];
    for (OpId successor : plans_[tasks_[id].rank].successors(id - first))
      if (--tasks_[first + successor].waiting == 0) ready_.push_back(first + successor);
  }

  // Starts what has nothing left to wait for in its plan.
  void release() {
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      const std::uint32_t id = ready_[k];
      const Task& t = tasks_[id];
      if (t.kind == Kind::copy ? t.busy == 0 : t.bytes == 0)
        complete(id);
      else if (t.kind == Kind::recv)
        post(id);
      else if (t.kind == Kind::exchange)
        meet(id);
      else
        enqueue(id);
    }
    ready_.clear();
  }

  void meet(std::uint32_t id) {
    Task& t = tasks_[id];
    t.posted = true;
    if (!tasks_[t.partner].posted) return;
    enqueue(id);
    if (t.partner != id) enqueue(t.partner);
  }

  void post(std::uint32_t id) {
    Task& t = tasks_[id];
    t.posted = true;
    if (t.arrived) return enqueue(id);
    if (t.partner == no_partner) return lone(id);
    const Task& send = tasks_[t.partner];
    if (send.posted) grant(t.partner);
  }

  // If one plan stands for all, a rank may have no send that matches the receive it waits for (a
  // border). Then its peer is assumed to start that send now.
  void lone(std::uint32_t id) {
    const Task& t = tasks_[id];
    const LogGP& m = machine(t);
    const Cut c = cut(t);
    const double wire =
        units(c.count - 1) * std::max(m.g + gaps(c.piece, m), m.o) + gaps(c.last, m) + m.L;
    events_.push({now_ + m.o + wire - units(c.count - 1) * m.o + (rendezvous(t) ? m.rendezvous : 0),
                  What::arrived, id});
  }

  std::span<const Plan> plans_;
  const LinkCosts& links_;
  std::vector<std::uint32_t> begin_;  // per rank: its first task
  std::vector<Task> tasks_;
  std::vector<Processor> processors_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> ready_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t completed_ = 0;
  double now_ = 0, end_ = 0;
};

}  // namespace

double simulate_by_distance(std::span<const Plan> plans, const BlockBytes& bytes,
                            const LinkCosts& links) {
  return Simulation(plans, {&bytes, 1}, links).run();
}

double simulate(std::span<const Plan> plans, const BlockBytes& bytes, const LogGP& machine,
                ChannelCost channel) {
  return simulate_by_distance(plans, bytes, alike(machine, channel));
}

double simulate_by_distance(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                            const LinkCosts& links) {
  return Simulation(plans, bytes, links).run();
}

double simulate(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                const LogGP& machine, ChannelCost channel) {
  return simulate_by_distance(plans, bytes, alike(machine, channel));
}

}  // namespace tonari
