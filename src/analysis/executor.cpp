// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/executor.hpp"

#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {
namespace {

using Memory = std::vector<unsigned char>;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
[[noreturn]] void wrong(const Parts&... parts) {
  throw Wrong(text(parts...));
}

const char* name(Buffer buffer) {
  return buffer == Buffer::send ? "send" : buffer == Buffer::recv ? "receive" : "scratch";
}

unsigned char pattern(int rank, std::uint32_t block, std::size_t position) {
  return static_cast<unsigned char>(Hash().word(rank).word(block).word(position).value());
}

// One rank's three buffers, block by block, and which blocks hold something.
struct RankMemory {
  std::vector<Memory> blocks[3];
  std::vector<bool> valid[3];
  Memory& at(Slice s) { return blocks[static_cast<int>(s.buffer)][s.block]; }
  bool exists(Slice s) const { return s.block < blocks[static_cast<int>(s.buffer)].size(); }
};

RankMemory make_memory(const Plan& plan, const Delivery& delivery, int rank) {
  RankMemory memory;
  const auto add = [&](Buffer buffer, std::uint64_t bytes, bool valid) {
    auto& blocks = memory.blocks[static_cast<int>(buffer)];
    Memory& block = blocks.emplace_back(bytes, static_cast<unsigned char>(0xEE));
    memory.valid[static_cast<int>(buffer)].push_back(valid);
    if (!valid) return;
    const auto number = static_cast<std::uint32_t>(blocks.size() - 1);
    for (std::size_t x = 0; x < block.size(); ++x) block[x] = pattern(rank, number, x);
  };
  static const std::vector<std::uint64_t> nothing;
  const std::vector<std::uint64_t>& send_bytes =
      delivery.in_place && delivery.send_bytes.empty() ? nothing : delivery.send_bytes[rank];
  for (std::uint64_t bytes : send_bytes) add(Buffer::send, bytes, true);
  for (std::uint64_t bytes : delivery.recv_bytes[rank]) add(Buffer::recv, bytes, delivery.in_place);
  for (std::uint32_t like : plan.scratch_like())
    add(Buffer::scratch, like == foreign ? 0 : send_bytes.at(like), false);
  return memory;
}

// Reachability between the operations of one plan: after(a, b) if b can only start once a is
// complete.
class Order {
 public:
  explicit Order(const Plan& plan)
      : words_((plan.size() + 63) / 64), before_(plan.size() * words_) {
    for (OpId a = 0; a < plan.size(); ++a)
      for (OpId b : plan.successors(a)) {
        if (b <= a)
          wrong("rank ", plan.rank(), ": operation ", b, " waits for the later operation ", a);
        for (std::size_t w = 0; w < words_; ++w) before_[b * words_ + w] |= before_[a * words_ + w];
        before_[b * words_ + a / 64] |= std::uint64_t{1} << a % 64;
      }
  }
  bool ordered(OpId a, OpId b) const { return a == b || precedes(a, b) || precedes(b, a); }
  bool precedes(OpId a, OpId b) const { return before_[b * words_ + a / 64] >> a % 64 & 1; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> before_;
};

struct Access {
  OpId op;
  bool write;
};

void check_races(const Plan& plan) {
  const Order order(plan);
  std::map<std::pair<Buffer, std::uint32_t>, std::vector<Access>> accesses;
  for (OpId op = 0; op < plan.size(); ++op) {
    const Operation& o = plan[op];
    for (std::size_t k = 0; k < o.slice_count; ++k) {
      const Slice s = plan.slices(o)[k];
      const bool write = o.kind == Kind::recv || o.kind == Kind::exchange ||
                         (o.kind == Kind::copy && k >= o.slice_count / 2);
      if (write && s.buffer == Buffer::send)
        wrong("rank ", plan.rank(), ": operation ", op, " writes to the send buffer");
      accesses[{s.buffer, s.block}].push_back({op, write});
    }
  }
  for (const auto& [place, all] : accesses)
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b)
        if ((all[a].write || all[b].write) &&
            (all[a].op == all[b].op || !order.ordered(all[a].op, all[b].op)))
          wrong("rank ", plan.rank(), ": operations ", all[a].op, " and ", all[b].op, " touch ",
                name(place.first), " block ", place.second, " in no certain order");
}

class Run {
 public:
  Run(std::span<const Plan> plans, const Delivery& delivery, std::uint64_t seed)
      : plans_(plans), delivery_(delivery), random_(seed) {
    for (std::size_t r = 0; r < plans.size(); ++r) {
      if (plans[r].rank() != static_cast<int>(r))
        wrong("plan ", r, " is for rank ", plans[r].rank());
      memory_.push_back(make_memory(plans[r], delivery, static_cast<int>(r)));
      waiting_.emplace_back(plans[r].size());
      started_.emplace_back(plans[r].size(), false);
      for (OpId op = 0; op < plans[r].size(); ++op)
        waiting_[r][op] = plans[r].predecessor_count(op);
    }
    match();
  }

  void complete() {
    std::size_t left = 0;
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      left += plans_[r].size();
      for (OpId op = 0; op < plans_[r].size(); ++op)
        if (waiting_[r][op] == 0) ready_.push_back({static_cast<int>(r), op});
    }
    while (!ready_.empty()) {
      const std::size_t k = random_() % ready_.size();
      std::swap(ready_[k], ready_.back());
      const Place place = ready_.back();
      ready_.pop_back();
      left -= start(place);
    }
    if (left > 0) wrong("deadlock: ", left, " operations can never complete, among them ", stuck());
  }

  void check_delivery() {
    for (std::size_t r = 0; r < plans_.size(); ++r)
      for (std::uint32_t i = 0; i < delivery_.expected[r].size(); ++i)
        check_block(static_cast<int>(r), i);
  }

 private:
  struct Place {
    int rank;
    OpId op;
  };

  void match() {
    std::map<std::tuple<int, int, int>, Place> sends;
    std::size_t recvs = 0;
    for (const Plan& plan : plans_)
      for (OpId op = 0; op < plan.size(); ++op) {
        check_slices(plan, op);
        const Operation& o = plan[op];
        if (o.kind == Kind::recv) ++recvs;
        if (o.kind == Kind::send &&
            !sends.emplace(std::tuple(plan.rank(), o.peer, o.tag), Place{plan.rank(), op}).second)
          wrong("rank ", plan.rank(), " sends two messages with tag ", o.tag, " to rank ", o.peer);
      }
    if (sends.size() != recvs) wrong(sends.size(), " sends for ", recvs, " receives");
    partner_.resize(plans_.size());
    for (std::size_t r = 0; r < plans_.size(); ++r)
      partner_[r].resize(plans_[r].size(), Place{-1, 0});
    for (const Plan& plan : plans_)
      for (OpId op = 0; op < plan.size(); ++op)
        if (plan[op].kind == Kind::recv) pair_up(sends, plan, op);
    match_exchanges();
  }

  // Every exchange with that of its peer that has it as its peer.
  void match_exchanges() {
    std::map<std::tuple<int, int, int>, Place> exchanges;
    for (const Plan& plan : plans_)
      for (OpId op = 0; op < plan.size(); ++op)
        if (plan[op].kind == Kind::exchange &&
            !exchanges
                 .emplace(std::tuple(plan.rank(), plan[op].peer, plan[op].tag),
                          Place{plan.rank(), op})
                 .second)
          wrong("rank ", plan.rank(), " swaps twice with tag ", plan[op].tag, " with rank ",
                plan[op].peer);
    for (const auto& [key, here] : exchanges) {
      const auto [rank, peer, tag] = key;
      const auto found = exchanges.find({peer, rank, tag});
      if (found == exchanges.end())
        wrong("rank ", rank, " waits for a swap with tag ", tag, " that rank ", peer,
              " does not make");
      const Place there = found->second;
      partner_[rank][here.op] = there;
      const auto mine = plans_[rank].slices(here.op), theirs = plans_[peer].slices(there.op);
      if (mine.size() != theirs.size())
        wrong("rank ", rank, " swaps ", mine.size(), " blocks, rank ", peer, " ", theirs.size());
      for (std::size_t k = 0; k < mine.size(); ++k)
        if (memory_[rank].at(mine[k]).size() != memory_[peer].at(theirs[k]).size())
          wrong("block ", k, " that ranks ", rank, " and ", peer, " swap with tag ", tag,
                " differs in size");
    }
  }

  void pair_up(std::map<std::tuple<int, int, int>, Place>& sends, const Plan& plan, OpId op) {
    const auto found = sends.find(std::tuple(plan[op].peer, plan.rank(), plan[op].tag));
    if (found == sends.end() || partner_[found->second.rank][found->second.op].rank >= 0)
      wrong("rank ", plan.rank(), " waits for a message with tag ", plan[op].tag, " that rank ",
            plan[op].peer, " does not send");
    const Place send = found->second;
    partner_[send.rank][send.op] = {plan.rank(), op};
    partner_[plan.rank()][op] = send;
    const auto from = plans_[send.rank].slices(send.op), to = plan.slices(op);
    if (from.size() != to.size())
      wrong("rank ", send.rank, " sends ", from.size(), " blocks, rank ", plan.rank(), " receives ",
            to.size());
    for (std::size_t k = 0; k < from.size(); ++k)
      if (!learned(send.rank, from[k]) && !learned(plan.rank(), to[k]) &&
          memory_[send.rank].at(from[k]).size() != memory_[plan.rank()].at(to[k]).size())
        wrong("block ", k, " of the message from rank ", send.rank, " to rank ", plan.rank(),
              " with tag ", plan[op].tag, " differs in size");
  }

  void check_slices(const Plan& plan, OpId op) {
    if (plan[op].kind != Kind::copy &&
        (plan[op].peer < 0 || plan[op].peer >= static_cast<int>(plans_.size()) ||
         plan[op].peer == plan.rank()))
      wrong("rank ", plan.rank(), ": operation ", op, " has peer ", plan[op].peer);
    for (Slice s : plan.slices(op))
      if (!memory_[plan.rank()].exists(s))
        wrong("rank ", plan.rank(), ": operation ", op, " names ", name(s.buffer), " block ",
              s.block);
    if (plan[op].kind != Kind::exchange) return;
    for (Slice s : plan.slices(op))
      if (s.buffer != Buffer::recv)
        wrong("rank ", plan.rank(), ": operation ", op, " swaps ", name(s.buffer), " block ",
              s.block);
  }

  // Returns how many operations this completes: a message completes, on both sides, once both sides
  // have started.
  std::size_t start(Place place) {
    started_[place.rank][place.op] = true;
    const Plan& plan = plans_[place.rank];
    const Operation& o = plan[place.op];
    if (o.kind == Kind::copy) {
      move(place.rank, plan.copy_sources(o), place.rank, plan.copy_targets(o));
      finish(place);
      return 1;
    }
    const Place other = partner_[place.rank][place.op];
    if (!started_[other.rank][other.op]) return 0;
    const Place send = o.kind == Kind::send ? place : other,
                recv = o.kind == Kind::send ? other : place;
    if (o.kind == Kind::exchange)
      swap(place, other);
    else
      move(send.rank, plans_[send.rank].slices(send.op), recv.rank,
           plans_[recv.rank].slices(recv.op));
    finish(send);
    finish(recv);
    return 2;
  }

  void swap(Place a, Place b) {
    const auto here = plans_[a.rank].slices(a.op), there = plans_[b.rank].slices(b.op);
    for (std::size_t k = 0; k < here.size(); ++k) {
      for (const auto& [rank, slice] : {std::pair(a.rank, here[k]), std::pair(b.rank, there[k])})
        if (!memory_[rank].valid[static_cast<int>(slice.buffer)][slice.block])
          wrong("rank ", rank, " swaps ", name(slice.buffer), " block ", slice.block,
                " before anything was written there");
      std::swap(memory_[a.rank].at(here[k]), memory_[b.rank].at(there[k]));
    }
  }

  // Blocks whose size is that of whatever comes.
  bool learned(int rank, Slice s) const {
    return s.buffer == Buffer::scratch && plans_[rank].scratch_like()[s.block] == foreign;
  }

  void finish(Place place) {
    for (OpId next : plans_[place.rank].successors(place.op))
      if (--waiting_[place.rank][next] == 0) ready_.push_back({place.rank, next});
  }

  void move(int from_rank, std::span<const Slice> from, int to_rank, std::span<const Slice> to) {
    for (std::size_t k = 0; k < from.size(); ++k) {
      RankMemory &source = memory_[from_rank], &target = memory_[to_rank];
      if (!source.valid[static_cast<int>(from[k].buffer)][from[k].block])
        wrong("rank ", from_rank, " reads ", name(from[k].buffer), " block ", from[k].block,
              " before anything was written there");
      if (!learned(to_rank, to[k]) && source.at(from[k]).size() != target.at(to[k]).size())
        wrong("rank ", from_rank, " copies ", name(from[k].buffer), " block ", from[k].block,
              " to a block of another size");
      target.at(to[k]) = source.at(from[k]);
      target.valid[static_cast<int>(to[k].buffer)][to[k].block] = true;
    }
  }

  void check_block(int rank, std::uint32_t i) {
    Delivery::Origin origin = delivery_.expected[rank][i];
    if (delivery_.in_place && origin.rank < 0) origin = {rank, i};
    const bool written = memory_[rank].valid[static_cast<int>(Buffer::recv)][i];
    if (written != (origin.rank >= 0))
      wrong("rank ", rank, ": receive block ", i,
            written ? " was written though it has no source" : " was never written");
    if (!written) return;
    const Memory& block = memory_[rank].at({Buffer::recv, i});
    for (std::size_t x = 0; x < block.size(); ++x)
      if (block[x] != pattern(origin.rank, origin.block, x))
        wrong("rank ", rank, ": receive block ", i, " is not block ", origin.block, " of rank ",
              origin.rank, " (byte ", x, ")");
  }

  std::string stuck() const {
    for (std::size_t r = 0; r < plans_.size(); ++r)
      for (OpId op = 0; op < plans_[r].size(); ++op)
        if (started_[r][op] && plans_[r][op].kind != Kind::copy &&
            !started_[partner_[r][op].rank][partner_[r][op].op])
          return text("operation ", op, " of rank ", r);
    return "none that has started";
  }

  std::span<const Plan> plans_;
  const Delivery& delivery_;
  std::mt19937_64 random_;
  std::vector<RankMemory> memory_;
  std::vector<std::vector<std::uint32_t>> waiting_;
  std::vector<std::vector<bool>> started_;
  std::vector<std::vector<Place>> partner_;
  std::vector<Place> ready_;
};

}  // namespace

Proof prove(std::span<const Plan> plans, const Delivery& delivery, std::uint64_t seed) {
  try {
    for (const Plan& plan : plans) check_races(plan);
    Run run(plans, delivery, seed);
    run.complete();
    run.check_delivery();
    return {};
  } catch (const Wrong& w) {
    return {false, w.what()};
  }
}

}  // namespace tonari
