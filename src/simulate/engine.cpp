// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "simulate/event_queue.hpp"
#include "simulate/noise.hpp"
#include "simulate/places.hpp"
#include "simulate/slots.hpp"
#include "simulate/ties.hpp"
#include "simulate/unmatched.hpp"

namespace tonari::sim {
namespace {

enum What : std::uint32_t { wake, arrives, posts };  // of a rank, a message, a receive
constexpr std::uint32_t id_bits = 30;

struct Turn {  // the next of a rank
  Ticks time = never;
  std::uint32_t order = 0;
  std::uint8_t queue = queues;
};

// The longest that most events lie ahead.
Ticks ahead_of(const Schedule& schedule, const Machine& m) {
  std::uint64_t bytes = 1;
  for (const Step& step : schedule.steps)
    if (step.act == Act::send) bytes = std::max(bytes, step.size);
  Ticks most = 0;
  for (const Link* link : {&m.self, &m.node, &m.network})
    most =
        std::max(most, link->latency + 2 * link->overhead + link->gap + (bytes - 1) * link->byte);
  return std::min(most + m.rendezvous, longest_time);
}

void check_sizes(const Schedule& schedule, const Machine& m) {
  std::uint64_t sends = 0;
  const Ticks byte = std::max({m.network.byte, m.node.byte, m.self.byte});
  for (const Step& step : schedule.steps) {
    const bool calculates = step.act == Act::calc;
    if (calculates ? stretched(step.size, m.work) > longest_time / 4
                   : byte > 0 && step.size > longest_time / 4 / byte)
      fail(Errc::overflow, "a step of ", step.size, calculates ? " fs" : " bytes",
           " takes longer than a simulation can count; use smaller blocks");
    sends += step.act == Act::send;
  }
  const std::uint64_t numbers =
      (schedule.steps.size() + sends) * (schedule.shared() ? std::uint64_t{schedule.ranks} : 1);
  if (numbers > nothing || schedule.total_steps() >> id_bits > 0 || schedule.ranks >> id_bits > 0)
    fail(Errc::overflow, schedule.ranks, " ranks have ", schedule.total_steps(), " steps and ",
         numbers - schedule.total_steps(), " messages together, and a simulation has room for ",
         (1u << id_bits) - 1, " steps; use fewer ranks");
}

template <class Places>
class Simulated final : public Engine {
 public:
  Simulated(const Schedule& schedule, const Machine& machine, bool watch)
      : schedule_(schedule),
        machine_(in_turns(machine, schedule.ranks)),
        places_(schedule),
        matched_(schedule.matched),
        events_(ahead_of(schedule, machine_)),
        ranks_(schedule.ranks),
        slots_(schedule.total_steps()),
        out_free_((schedule.ranks - 1) / machine.ranks_per_nic + 1),
        in_free_(out_free_.size()),
        unmatched_(matched_ ? 0 : schedule.ranks),
        ties_(watch, slots_.size()) {
    for (Id rank = 0; rank < schedule.ranks; ++rank) start(rank);
    at_start_ = false;
  }

  bool advance(std::uint64_t events) override {
    for (; events > 0 && !events_.empty(); --events) {
      prefetch();
      handle(events_.pop());
    }
    if (events_.empty() && done_ < slots_.size()) complain();
    return !events_.empty();
  }

  std::uint64_t steps_done() const override { return done_; }
  bool tied() const override { return ties_.tied(); }
  Outcome outcome() const override {
    Outcome found{0, slots_.size() + sent_};
    for (const Rank& rank : ranks_) found.end = std::max(found.end, rank.free);
    return found;
  }

 private:
  using Id = std::uint32_t;

  void start(Id rank) {
    const Id first = places_.first(rank);
    for (Id k = 0; k < places_.count(rank); ++k) {
      slots_[first + k].waits = places_.step(rank, k).waits & ((1u << 28) - 1);
      if (slots_[first + k].waits == 0) ready_.push_back(k);
    }
    release(rank, ready_);
    schedule(rank);
  }

  // Events go from rank to rank: what the next but few need is fetched meanwhile.
  void prefetch() const {
    const Event* later = events_.peek(8);
    if (!later) return;
    const Id id = later->what & ((1u << id_bits) - 1);
    __builtin_prefetch(later->what >> id_bits == wake ? static_cast<const void*>(&ranks_[id])
                                                      : static_cast<const void*>(&slots_[id]));
  }

  void handle(const Event& event) {
    const Id id = event.what & ((1u << id_bits) - 1);
    now_ = event.time;
    switch (event.what >> id_bits) {
      case wake:
        return wakes(id, event);
      case arrives:
        return arrived(id, event);
      default:
        if (ties_.watching()) ties_.goes(now_, ties_.made(id, false), false);
        return post(places_.rank_of(id), id);
    }
  }

  void add(Ticks time, Id order, What what, Id id) {
    if (time >= longest_time)
      fail(Errc::overflow, "the exchange takes more than ",
           static_cast<std::uint64_t>(to_seconds(longest_time)),
           " simulated seconds; use smaller blocks or a faster machine");
    events_.push({time, order, what << id_bits | id});
  }

  // -- who is next

  Id nic(Id rank) const {
    return machine_.ranks_per_nic == 1 ? rank : rank / machine_.ranks_per_nic;
  }

  Turn best(Id rank) {
    const Rank& r = ranks_[rank];
    Turn turn;
    for (std::uint8_t q = 0; q < queues; ++q) {
      if (r.head[q] == nothing) continue;
      Ticks time = std::max(r.free, now_);
      if (q == out) time = std::max(time, out_free_[nic(rank)]);
      if (q == in) time = std::max(time, in_free_[nic(rank)]);
      const Id order = slots_[r.head[q]].order;
      if (ties_.watching() && turn.queue < queues && time == turn.time)
        ties_.compare(r.head[q], q >= local, r.head[turn.queue], turn.queue >= local);
      if (time < turn.time || (time == turn.time && order < turn.order)) turn = {time, order, q};
    }
    return turn;
  }

  // Gives the rank its event.
  void schedule(Id rank) {
    Rank& r = ranks_[rank];
    const Turn turn = best(rank);
    if (turn.time == r.wake_time && turn.order == r.wake_order) return;
    r.wake_time = turn.time;
    r.wake_order = turn.order;
    if (turn.queue < queues) add(turn.time, turn.order, wake, rank);
  }

  void wakes(Id rank, const Event& event) {
    Rank& r = ranks_[rank];
    if (event.time != r.wake_time || event.order != r.wake_order) return;  // it has changed since
    r.wake_time = never;
    take_turn(rank, event);
  }

  // Runs what the event is about if it is its turn, and gives the rank its next event.
  void take_turn(Id rank, const Event& event) {
    const Turn turn = best(rank);
    if (turn.queue < queues && turn.time == event.time && turn.order == event.order) {
      Rank& r = ranks_[rank];
      const Id slot = r.head[turn.queue];
      r.head[turn.queue] = slots_[slot].next;
      const bool message = turn.queue >= local;
      if (ties_.watching()) ties_.goes(now_, ties_.made(slot, message), message);
      perform(rank, turn.queue, slot);
    }
    schedule(rank);
  }

  void perform(Id rank, std::uint8_t queue, Id slot) {
    if (queue >= local) return take_message(rank, slot);
    const Id k = places_.index(rank, slot);
    const Step& step = places_.step(rank, k);
    if (step.act == Act::send) return send(rank, k, step, slot);
    ranks_[rank].free =
        after_noise(machine_.noise, rank, now_, stretched(step.size, machine_.work));
    started(rank, k);
    completed(rank, k);
    release(rank, ready_);
  }

  void append(Id rank, std::uint8_t queue, Id slot) {
    Rank& r = ranks_[rank];
    slots_[slot].next = nothing;
    if (r.head[queue] == nothing)
      r.head[queue] = slot;
    else
      slots_[r.tail[queue]].next = slot;
    r.tail[queue] = slot;
  }

  // Messages of one latency come in the order of their numbers, others have to be sorted in.
  void insert(Id rank, std::uint8_t queue, Id slot) {
    Rank& r = ranks_[rank];
    const Id order = slots_[slot].order;
    if (r.head[queue] == nothing || slots_[r.tail[queue]].order < order) {
      if (ties_.watching() && r.head[queue] != nothing)
        ties_.compare(r.tail[queue], true, slot, true);
      return append(rank, queue, slot);
    }
    Id* place = &r.head[queue];
    while (slots_[*place].order < order) place = &slots_[*place].next;
    slots_[slot].next = *place;
    *place = slot;
    if (ties_.watching()) ties_.found();
  }

  // -- steps

  const Link& link(Id rank, const Step& step) const {
    if (places_.is_self(rank, step)) return machine_.self;
    if (machine_.ranks_per_node == 1) return machine_.network;
    return rank / machine_.ranks_per_node == places_.peer(rank, step) / machine_.ranks_per_node
               ? machine_.node
               : machine_.network;
  }
  Ticks distance(Id rank, const Step& step, const Link& way) const {
    if (machine_.hop == 0 || !way.interface) return 0;
    return machine_.hop * hops(machine_.topology, rank / machine_.ranks_per_node,
                               places_.peer(rank, step) / machine_.ranks_per_node);
  }
  bool is_long(const Link& link, std::uint64_t bytes) const {
    return link.interface && bytes > machine_.eager;
  }
  static std::uint64_t after_first(std::uint64_t bytes) { return bytes > 0 ? bytes - 1 : 0; }

  void send(Id rank, Id k, const Step& step, Id slot) {
    const Link& way = link(rank, step);
    ranks_[rank].free = after_noise(machine_.noise, rank, now_, way.overhead);
    if (way.interface) out_free_[nic(rank)] = now_ + way.gap + after_first(step.size) * way.byte;
    const bool waits = is_long(way, step.size);
    const Id message = matched_ ? places_.first(places_.peer(rank, step)) + step.other : slot;
    slots_[message].order = order_++;
    if (ties_.watching()) ties_.message_made(message, now_);
    add(ranks_[rank].free + way.latency + distance(rank, step, way) +
            (waits ? machine_.rendezvous : 0),
        slots_[message].order, arrives, message);
    ++sent_;
    started(rank, k);
    if (!waits) completed(rank, k);
    release(rank, ready_);
  }

  Id receiver(Id message) const {
    const Id rank = places_.rank_of(message);
    return matched_ ? rank : places_.peer(rank, places_.step(rank, places_.index(rank, message)));
  }
  const Link& link_of(Id message) const {
    const Id rank = places_.rank_of(message);
    return link(rank, places_.step(rank, places_.index(rank, message)));
  }

  void arrived(Id message, const Event& event) {
    const Id rank = receiver(message);
    insert(rank, link_of(message).interface ? in : local, message);
    take_turn(rank, event);
  }

  void take_message(Id rank, Id message) {
    const Id owner = places_.rank_of(message);
    const Step& step = places_.step(owner, places_.index(owner, message));
    const Link& way = link(owner, step);
    const Ticks bytes = after_first(step.size) * way.byte;
    ranks_[rank].free = after_noise(machine_.noise, rank, now_, way.overhead + bytes);
    if (way.interface) in_free_[nic(rank)] = now_ + way.gap + bytes;
    const Id receive = matched_ ? message : expect(rank, message);
    if (receive == nothing) return;  // it waits for its receive
    if (!slots_[receive].posted) {
      slots_[receive].arrived = 1;
      return;
    }
    meet(rank, receive, message);
  }

  void post(Id rank, Id slot) {
    const Id k = places_.index(rank, slot);
    started(rank, k);
    const Id message = matched_ ? (slots_[slot].arrived ? slot : nothing) : early(rank, slot);
    if (message != nothing) return meet(rank, slot, message);
    slots_[slot].posted = 1;
    release(rank, ready_);
    schedule(rank);
  }

  // Message and receive have met. The sender of a long one goes on.
  void meet(Id rank, Id receive, Id message) {
    const Id k = places_.index(rank, receive);
    const Step& step = places_.step(rank, k);
    const Id owner = places_.rank_of(message);
    const Step& sent = matched_ ? step : places_.step(owner, places_.index(owner, message));
    if (!is_long(link_of(message), sent.size)) {
      completed(rank, k);
      release(rank, ready_);
      return schedule(rank);
    }
    const Id sender = matched_ ? places_.peer(rank, step) : owner;
    const Id their = matched_ ? step.other : places_.index(owner, message);
    ranks_[sender].free = std::max(ranks_[sender].free, now_);
    out_free_[nic(sender)] = std::max(out_free_[nic(sender)], now_);
    meet_long(rank, k, sender, their);
  }
  void meet_long(Id rank, Id k, Id sender, Id their) {
    if (sender == rank) {
      completed(rank, their);
      completed(rank, k);
      release(rank, ready_);
    } else {
      completed(sender, their, theirs_);
      completed(rank, k);
      if (sender < rank) release(sender, theirs_);
      release(rank, ready_);
      if (sender > rank) release(sender, theirs_);
      schedule(sender);
    }
    schedule(rank);
  }

  // -- messages that meet their receives as they come

  bool meets(const Step& receive, std::uint32_t from, const Step& message) const {
    return (receive.peer == any || receive.peer == from) &&
           (receive.other == any || message.other == any || receive.other == message.other);
  }
  Id expect(Id rank, Id message) {
    const Id sender = places_.rank_of(message);
    const Step& sent = places_.step(sender, places_.index(sender, message));
    return unmatched_.meet_message(slots_, rank, message, [&](Id receive) {
      return meets(places_.step(rank, places_.index(rank, receive)), sender, sent);
    });
  }
  Id early(Id rank, Id receive) {
    const Step& step = places_.step(rank, places_.index(rank, receive));
    return unmatched_.meet_receive(slots_, rank, receive, [&](Id message) {
      const Id sender = places_.rank_of(message);
      return meets(step, sender, places_.step(sender, places_.index(sender, message)));
    });
  }

  // -- what becomes ready

  void started(Id rank, Id k) { follow(rank, k, true, ready_); }
  void completed(Id rank, Id k) { completed(rank, k, ready_); }
  void completed(Id rank, Id k, std::vector<Id>& ready) {
    ++done_;
    follow(rank, k, false, ready);
  }
  void follow(Id rank, Id k, bool start, std::vector<Id>& ready) {
    const std::uint64_t at = places_.after_at(rank, k);
    const std::uint64_t end = places_.after_at(rank, k + 1);
    for (const After& after : std::span(schedule_.after).subspan(at, end - at))
      if (after.started == start && --slots_[places_.first(rank) + after.step].waits == 0)
        ready.push_back(after.step);
  }

  // Steps that become ready at one time get their numbers as sends, receives, calculations.
  void release(Id rank, std::vector<Id>& ready) {
    if (ready.empty()) return;
    if (ready.size() > 1)
      std::stable_sort(ready.begin(), ready.end(), [&](Id a, Id b) {
        return places_.step(rank, a).act < places_.step(rank, b).act;
      });
    for (Id k : ready) begin(rank, k);
    ready.clear();
  }
  void begin(Id rank, Id k) {
    const Id slot = places_.first(rank) + k;
    const Step& step = places_.step(rank, k);
    const Id order = order_++;
    if (ties_.watching()) ties_.step_made(slot, now_, at_start_);
    if (step.act == Act::recv) return begin_receive(rank, k, slot, order);
    slots_[slot].order = order;
    append(rank, step.act == Act::send && link(rank, step).interface ? out : work, slot);
  }
  // Nothing can come before the receives that a rank begins with.
  void begin_receive(Id rank, Id k, Id slot, Id order) {
    if (!at_start_ || is_awaited(rank, k)) return add(ranks_[rank].free, order, posts, slot);
    slots_[slot].posted = 1;
    if (!matched_) early(rank, slot);
  }
  bool is_awaited(Id rank, Id k) const {
    const std::uint64_t end = places_.after_at(rank, k + 1);
    for (std::uint64_t at = places_.after_at(rank, k); at < end; ++at)
      if (schedule_.after[at].started) return true;
    return false;
  }

  [[noreturn]] void complain() const {
    for (Id rank = 0; rank < schedule_.ranks; ++rank)
      for (Id k = 0; k < places_.count(rank); ++k) {
        const Slot& slot = slots_[places_.first(rank) + k];
        if (slot.waits > 0 || slot.posted)
          fail(Errc::argument, "the schedule never ends: ", slots_.size() - done_,
               " steps wait for each other, the first of them on rank ", rank);
      }
    fail(Errc::argument, "the schedule never ends: a long message meets no receive");
  }

  const Schedule& schedule_;
  const Machine machine_;
  const Places places_;
  const bool matched_;
  EventQueue events_;
  std::vector<Rank> ranks_;
  std::vector<Slot> slots_;
  std::vector<Ticks> out_free_, in_free_;  // per network interface
  Unmatched unmatched_;
  Ties ties_;
  std::vector<Id> ready_, theirs_;
  Ticks now_ = 0;
  Id order_ = 0;
  bool at_start_ = true;
  std::uint64_t done_ = 0, sent_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Schedule& schedule, const Machine& machine, bool watch) {
  check_sizes(schedule, in_turns(machine, schedule.ranks));
  if (schedule.shared()) return std::make_unique<Simulated<SharedPlaces>>(schedule, machine, watch);
  return std::make_unique<Simulated<OwnPlaces>>(schedule, machine, watch);
}

double engine_memory(const Schedule& schedule, const Machine& machine) {
  const double ranks = schedule.ranks, steps = static_cast<double>(schedule.total_steps());
  const Link link = in_turns(machine, schedule.ranks).network;
  const double apart = static_cast<double>(std::max<Ticks>({link.overhead, link.gap, 1}));
  const double flying = 2 + static_cast<double>(link.overhead + link.latency) / apart;
  const double most = std::min(flying * ranks, ranks + steps);  // events at a time
  return ranks * (sizeof(Rank) + 2 * sizeof(Ticks)) + 2.5 * most * sizeof(Event) +
         steps * (sizeof(Slot) + (schedule.shared() ? 0 : sizeof(std::uint32_t)));
}

Outcome run(const Schedule& schedule, const Machine& machine) {
  const auto engine = make_engine(schedule, machine);
  while (engine->advance(1u << 20)) {
  }
  return engine->outcome();
}

}  // namespace tonari::sim
