// SPDX-License-Identifier: BSD-3-Clause
// A discrete-event simulation of plans under LogGP, and two shortcuts built beside it.
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
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace tonari {
namespace {

constexpr std::uint32_t none = ~0u;

double units(std::uint64_t bytes) { return static_cast<double>(bytes); }
// LogGP: (k-1) G
double gaps(std::uint64_t bytes, const LogGP& m) { return bytes > 0 ? units(bytes - 1) * m.G : 0; }

// A message on the wire: whole, or cut into equal segments and a shorter last one.
struct Cut {
  Cut(std::uint64_t bytes, std::size_t segment)
      : piece(segment > 0 ? std::min<std::uint64_t>(segment, bytes) : bytes) {
    count = bytes > 0 ? (bytes + piece - 1) / piece : 0;
    last = bytes > 0 ? bytes - (count - 1) * piece : 0;
  }
  std::uint64_t piece, count, last;
};

// Contiguous pieces among slices: a block continues the one before if it follows it in the same
// buffer.
struct PieceCount {
  std::uint64_t count = 0, bytes = 0;
  bool scratch = false;
};

bool follows(Slice a, Slice b) { return a.buffer == b.buffer && a.block + 1 == b.block; }

// With `passing`, scratch blocks count. Empty blocks are no piece.
PieceCount pieces(std::span<const Slice> slices, const BlockBytes& bytes, bool passing) {
  PieceCount found;
  const Slice* before = nullptr;
  for (const Slice& s : slices) {
    const std::uint64_t size = bytes(s);
    if (size == 0) continue;
    const bool scratch = s.buffer == Buffer::scratch;
    found.scratch = found.scratch || scratch;
    if (scratch && !passing) {
      before = nullptr;
      continue;
    }
    if (!before || !follows(*before, s)) ++found.count;
    found.bytes += size;
    before = &s;
  }
  return found;
}

double copying(const PieceCount& p, const LogGP& m) {
  return units(p.count) * m.copy_block + units(p.bytes) * m.copy_byte;
}

// The time to copy self blocks, in pieces that are contiguous on both sides.
double own_copies(const Plan& plan, const Operation& op, const BlockBytes& bytes, const LogGP& m) {
  const auto from = plan.copy_sources(op), to = plan.copy_targets(op);
  PieceCount p;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (k == 0 || !follows(from[k - 1], from[k]) || !follows(to[k - 1], to[k])) ++p.count;
    p.bytes += bytes(from[k]);
  }
  return p.bytes > 0 ? copying(p, m) : 0;
}

// What the processor does besides o; `all` are the message's pieces. Received blocks that are only
// passed on are not unpacked: they leave from the message in which they came.
double handling(const Plan& plan, const Operation& op, const PieceCount& all,
                const BlockBytes& bytes, const LogGP& m, const ChannelCost& channel) {
  if (channel.typed) return all.count > 1 ? units(all.count) * m.typed_block : 0;
  if (channel.direct && all.count == 1 && !all.scratch) return 0;
  return copying(op.kind == Kind::recv && all.scratch ? pieces(plan.slices(op), bytes, false) : all,
                 m);
}

class Simulation {
 public:
  // bytes: one for all plans, or one per plan.
  Simulation(std::span<const Plan> plans, std::span<const BlockBytes> bytes, const LogGP& machine,
             const ChannelCost& channel)
      : plans_(plans), machine_(machine), channel_(channel) {
    std::uint32_t total = 0;
    for (const Plan& plan : plans) {
      begin_.push_back(total);
      total += static_cast<std::uint32_t>(plan.size());
    }
    tasks_.reserve(total);
    for (std::uint32_t rank = 0; rank < plans.size(); ++rank)
      for (OpId op = 0; op < plans[rank].size(); ++op)
        tasks_.push_back(task(rank, op, bytes[bytes.size() == 1 ? 0 : rank]));
    queue_.resize(2 * std::size_t{total});
    for (std::uint32_t first : begin_) processors_.push_back({2 * first, 2 * first});
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
  struct Event {
    double time;
    What what;
    std::uint32_t id;  // task; for `processor` events the rank
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.what, a.id) > std::tie(b.time, b.what, b.id);
    }
  };
  struct Task {           // an operation of some rank
    double busy;          // seconds of the processor
    std::uint64_t bytes;  // of the message
    std::uint32_t rank, waiting;
    std::uint32_t partner = none;  // the other end of the message
    Kind kind;
    // for a receive: it may take its message; for the send of a long message: it waits for that;
    // for an exchange: it waits for its partner
    bool posted = false;
    bool arrived = false;
    std::uint8_t parts = 1;  // not done yet; an exchange has a send and a receive
    // seconds that the processor takes for an exchange's receive, which comes second
    double receiving = 0;
  };
  struct Processor {
    std::uint32_t head, tail;  // in queue_: every task of a rank enters once, an exchange twice
    std::uint32_t current = none;
    bool scheduled = false;
    double interface_free = 0;
  };

  Task task(std::uint32_t rank, OpId id, const BlockBytes& bytes) const {
    const Plan& plan = plans_[rank];
    const Operation& op = plan[id];
    Task t{0, 0, rank, plan.predecessor_count(id), none, op.kind};
    if (op.kind == Kind::copy) {
      t.busy = own_copies(plan, op, bytes, machine_);
    } else {
      const PieceCount all = pieces(plan.slices(op), bytes, true);
      t.bytes = all.bytes;
      t.busy = units(cut(t).count) * machine_.o;
      if (op.kind == Kind::exchange) t.parts = 2, t.receiving = t.busy;
      t.busy += op.kind == Kind::exchange ? copying(all, machine_)
                                          : handling(plan, op, all, bytes, machine_, channel_);
    }
    return t;
  }

  Cut cut(const Task& t) const { return {t.bytes, channel_.segment}; }
  bool rendezvous(const Task& t) const { return cut(t).piece > machine_.eager; }
  const Operation& operation(std::uint32_t id) const {
    return plans_[tasks_[id].rank][id - begin_[tasks_[id].rank]];
  }

  struct End {  // of a message
    std::uint64_t pair;
    std::int32_t tag;
    std::uint32_t id;
    friend auto operator<=>(const End&, const End&) = default;
    bool meets(const End& other) const { return pair == other.pair && tag == other.tag; }
  };
  bool alone() const { return plans_.size() == 1; }

  // The receiving ends and the sending ends, sorted. Empty messages are not sent.
  std::array<std::vector<End>, 2> sorted_ends() {
    std::array<std::vector<End>, 2> ends;
    for (std::uint32_t id = 0; id < tasks_.size(); ++id) {
      const Operation& op = operation(id);
      if (op.kind == Kind::copy || tasks_[id].bytes == 0) continue;
      const std::uint64_t here = tasks_[id].rank, peer = static_cast<std::uint32_t>(op.peer);
      if (op.kind == Kind::exchange && alone()) {
        tasks_[id].partner = id;  // the partner does the same
        continue;
      }
      const std::uint64_t sent = alone() ? 0 : here << 32 | peer;
      const std::uint64_t received = alone() ? 0 : peer << 32 | here;
      if (op.kind != Kind::send) ends[0].push_back({received, op.tag, id});
      if (op.kind != Kind::recv) ends[1].push_back({sent, op.tag, id});
    }
    for (auto& list : ends)
      if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
    return ends;
  }

  // Pairs sends with receives. Of several messages with one key, the first send meets the first
  // receive, as in MPI.
  void match() {
    const auto [receiving, sending] = sorted_ends();
    auto in = receiving.begin(), out = sending.begin();
    while (in != receiving.end() && out != sending.end()) {
      if (in->meets(*out)) {
        tasks_[in->id].partner = out->id;
        tasks_[out->id].partner = in->id;
        ++in;
        ++out;
      } else if (alone()) {
        in->tag < out->tag ? ++in : ++out;
      } else {
        break;
      }
    }
    if (!alone() && (in != receiving.end() || out != sending.end()))
      fail(Errc::internal, "a message of the plans has no other end");
    for (const Task& t : tasks_)
      if (t.partner != none &&
          (t.kind == Kind::exchange) != (tasks_[t.partner].kind == Kind::exchange))
        fail(Errc::internal, "an exchange of the plans meets a message");
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
    if (p.current != none) processed(std::exchange(p.current, none));
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
      if (t.partner == none || tasks_[t.partner].posted) grant(id);
      return;
    }
    if (t.kind == Kind::send) transmit(id, machine_.o);
    part_done(id);
  }
  // Ends the first turn of an exchange: its bytes are on their way, or will be once the partner is
  // asked. What arrives takes another turn.
  void sent(std::uint32_t id) {
    Task& t = tasks_[id];
    t.posted = false;
    t.busy = t.receiving;
    if (rendezvous(t)) return grant(id);
    transmit(id, machine_.o);
    part_done(id);
  }
  void grant(std::uint32_t send) {
    events_.push({now_ + machine_.rendezvous, What::granted, send});
  }

  // The interface sends a message whose last segment it gets now; it got the earlier ones `apart`
  // seconds after each other. Returns when the last byte has left. The receiver takes segments as
  // they come. It begins when it can go on without a break until the last one, but not before the
  // first can have arrived.
  double transmit(std::uint32_t id, double apart) {
    const Task& t = tasks_[id];
    const Cut c = cut(t);
    const double earlier = units(c.count - 1);
    double& free = processors_[t.rank].interface_free;
    const double last = std::max(now_, std::max(free, now_ - earlier * apart) +
                                           earlier * (machine_.g + gaps(c.piece, machine_)));
    const double left = last + gaps(c.last, machine_);
    free = left + machine_.g;
    const double here = std::max(left + machine_.L - earlier * machine_.o, now_ + machine_.L);
    if (t.partner != none) events_.push({here, What::arrived, t.partner});
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
    if (t.partner == none) return lone(id);
    const Task& send = tasks_[t.partner];
    if (send.posted) grant(t.partner);
  }

  // If one plan stands for all, a rank may have no send that matches the receive it waits for (a
  // border). Then its peer is assumed to start that send now.
  void lone(std::uint32_t id) {
    const Task& t = tasks_[id];
    const Cut c = cut(t);
    const double wire =
        units(c.count - 1) * std::max(machine_.g + gaps(c.piece, machine_), machine_.o) +
        gaps(c.last, machine_) + machine_.L;
    events_.push({now_ + machine_.o + wire - units(c.count - 1) * machine_.o +
                      (rendezvous(t) ? machine_.rendezvous : 0),
                  What::arrived, id});
  }

  std::span<const Plan> plans_;
  const LogGP& machine_;
  const ChannelCost& channel_;
  std::vector<std::uint32_t> begin_;  // per rank: its first task
  std::vector<Task> tasks_;
  std::vector<Processor> processors_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> ready_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t completed_ = 0;
  double now_ = 0, end_ = 0;
};

// What one look at the offsets tells.
struct Glance {
  std::size_t moving = 0;  // offsets that are not zero
  // pieces of a message of all blocks that agree in one coordinate; neighbors in the list often do
  double pieces_per_block = 1;
};

Glance glance(const Neighborhood& near) {
  const int d = near.grid.dimensions();
  std::size_t moving = 0, runs = 0, coordinates = 0;  // those that are not zero
  Vec before;
  for (const Vec& offset : near.offsets) {
    std::size_t here = 0;
    for (int j = 0; j < d; ++j) {
      here += offset[j] != 0;
      runs += offset[j] != 0 && offset[j] != before[j];
    }
    moving += here > 0;
    coordinates += here;
    before = offset;
  }
  return {moving, coordinates > 0 ? units(runs) / units(coordinates) : 1};
}

// The blocks that a rank sends. The tree of a large allgather takes milliseconds to make. Most such
// neighborhoods are boxes, where every place on the way is a neighbor, so each block arrives there
// once.
double blocks_sent(const OffsetVariant& variant, std::size_t moving) {
  constexpr std::size_t largest_tree = 2000;  // neighbors
  if (variant.collective() == Collective::alltoall || variant.near().offsets.size() <= largest_tree)
    return units(variant.volume());
  return units(std::min(variant.hops(), moving));
}

}  // namespace

double simulate(std::span<const Plan> plans, const BlockBytes& bytes, const LogGP& machine,
                ChannelCost channel) {
  return Simulation(plans, {&bytes, 1}, machine, channel).run();
}

double simulate(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                const LogGP& machine, ChannelCost channel) {
  return Simulation(plans, bytes, machine, channel).run();
}

double estimate(const OffsetVariant& variant, double block_bytes, const LogGP& machine,
                ChannelCost channel) {
  const double rounds = units(variant.rounds());
  if (rounds == 0) return 0;
  const auto [moving, share] = glance(variant.near());
  const double blocks = blocks_sent(variant, moving), message = blocks / rounds * block_bytes;
  // A block takes `levels` hops on average: it waits for the network that often, each time for its
  // share of the rounds.
  const double levels = std::clamp(
      std::ceil(units(variant.hops()) / std::max<double>(1, units(moving))), 1.0, rounds);
  const double segments =
      channel.segment > 0 ? std::max(1.0, std::ceil(message / units(channel.segment))) : 1;
  const bool waits = message / segments > units(machine.eager);
  const bool combined = blocks > rounds || levels > 1;
  const double delivered = combined ? std::min(blocks, units(moving)) : 0;

  double processor = rounds * segments * 2 * machine.o;
  if (channel.typed)
    processor += combined ? 2 * blocks * share * machine.typed_block : 0;
  else if (combined || !channel.direct)
    processor +=
        (blocks + delivered) * (share * machine.copy_block + block_bytes * machine.copy_byte);
  const double network = rounds * segments * machine.g + blocks * block_bytes * machine.G;
  return std::max(processor, network) + levels * (machine.L + (waits ? machine.rendezvous : 0)) +
         std::min(processor, network) * levels / rounds;
}

std::int64_t crossover_bytes(const Plan& plan, const Plan& reference, const LogGP& machine) {
  return crossover_bytes({&plan, 1}, {&reference, 1}, machine);
}

std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LogGP& machine) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const auto faster = [&](std::uint64_t block) {
    const BlockBytes bytes = [block](Slice) { return block; };
    return simulate(plans, bytes, machine) < simulate(reference, bytes, machine);
  };
  if (!faster(1)) return 0;
  std::uint64_t low = 1, high = 2;  // still faster at low
  for (; high <= most && faster(high); high *= 2) low = high;
  if (high > most) return -1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (faster(middle) ? low : high) = middle;
  }
  return static_cast<std::int64_t>(high);
}

}  // namespace tonari
