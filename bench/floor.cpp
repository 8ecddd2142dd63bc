// SPDX-License-Identifier: BSD-3-Clause
// The floor: the least that the hardware allows for an exchange between ranks of one node. Per
// round
//
//   one flag round trip with every rank that this one exchanges with, through shared memory: mine
//   is ready, yours is taken;
//   one copy of all bytes from each of them, out of lines that lie in the cache of the core that
//   wrote them;
//   one copy of the bytes that stay on the rank.
//
// The lines must be the writer's. What nobody writes again lies in the reader's own cache from the
// second round on, and reading it there is three times as fast as new data can come; but writing it
// again inside the round takes as long as the copy. So the bytes circulate: what a rank receives in
// one round is what the other one reads in the next, and the copy itself makes the lines its own.
// Each rank has two areas for every partner:
//
//               rank X                rank Y
//   round k     X0  X1 <--- Y0  Y1        X copies Y0 to X1, Y copies X0 to Y1
//   round k+1   X0 <--- Y1                X copies Y1 to X0, Y copies X1 to Y0
//
// Where two ranks give each other unequal amounts, the surplus is not written again and comes too
// fast: a floor errs on the low side.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "candidate.hpp"
#include "memory/memory.hpp"
#include "node_memory.hpp"

namespace bench {
using tonari::Collective, tonari::round_up;

namespace {

constexpr std::size_t unit = 128;  // processors fetch pairs of cache lines

struct Needs {
  std::vector<std::uint64_t> from;  // by rank: bytes that come from there
  std::size_t own = 0;              // bytes that are there already
  std::size_t different = 0;        // so many of them; the others repeat them
};

// In an allgather all blocks of one rank are the same: one of them has to come, the others are
// copies of it.
Needs needs_of(const Workload& work) {
  const Place& place = work.place;
  const Arguments& blocks = work.recv_arguments();
  const bool alike = work.operation.collective == Collective::allgather;
  Needs needs{.from = std::vector<std::uint64_t>(place.ranks)};
  for (std::size_t j = 0; j < place.sources.size(); ++j) {
    const int source = place.sources[j];
    if (source == MPI_PROC_NULL) continue;
    int size;
    MPI_Type_size(blocks.types[j], &size);
    const std::size_t bytes = static_cast<std::size_t>(size) * blocks.counts[j];
    const bool here = source == place.rank || (alike && needs.from[source] > 0);
    (here ? needs.own : needs.from[source]) += bytes;
    if (here) needs.different = alike ? bytes : needs.own;
  }
  return needs;
}

// Which rank needs how much from which, and where in the shared memory it lies; the same on all.
class Map {
 public:
  Map(const Needs& needs, const Place& place)
      : ranks_(place.ranks), bytes_(ranks_ * ranks_), areas_(ranks_ * ranks_) {
    MPI_Allgather(needs.from.data(), place.ranks, MPI_UINT64_T, bytes_.data(), place.ranks,
                  MPI_UINT64_T, place.cart);
    end_ = ranks_ * ranks_ * unit;
    for (std::size_t x = 0; x < ranks_; ++x) {
      end_ = round_up(end_, 4096);  // pages of the rank that owns them
      for (std::size_t y = 0; y < ranks_; ++y)
        areas_[x * ranks_ + y] = std::exchange(end_, end_ + 2 * room(x, y));
    }
  }

  std::size_t bytes(std::size_t from, std::size_t to) const { return bytes_[to * ranks_ + from]; }
  bool exchange(std::size_t x, std::size_t y) const {
    return x != y && bytes(x, y) + bytes(y, x) > 0;
  }
  std::size_t room(std::size_t x, std::size_t y) const {
    return round_up(std::max(bytes(x, y), bytes(y, x)), unit);
  }
  std::size_t flag(std::size_t from, std::size_t to) const { return (from * ranks_ + to) * unit; }
  std::size_t area(std::size_t owner, std::size_t partner, int which) const {
    return areas_[owner * ranks_ + partner] + which * room(owner, partner);
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t ranks_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::size_t> areas_;
  std::size_t end_;
};

bool crowded(MPI_Comm comm, int ranks) {
  cpu_set_t mine, all;
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, comm);
  return CPU_COUNT(&all) < ranks;
}

using Word = std::uint64_t;

struct Partner {
  int rank;
  std::size_t in, out;  // bytes
  // flags: steps that this rank, and that the other one has reached
  std::atomic_ref<Word> to, from;
  std::array<std::byte*, 2> mine, theirs;  // areas
};

class Floor : public Candidate {
 public:
  Floor(const Workload& work, const Needs& needs, const Map& map, NodeMemory memory)
      : memory_(std::move(memory)),
        comm_(work.place.cart),
        rank_(work.place.rank),
        crowded_(crowded(comm_, work.place.ranks)),
        own_(needs.own),
        from_(needs.different),
        to_(needs.own) {
    std::byte* const at = memory_.data();
    const auto flag = [&](int from, int to) {
      return std::atomic_ref<Word>(*reinterpret_cast<Word*>(at + map.flag(from, to)));
    };
    const auto areas = [&](int x, int y) {
      return std::array{at + map.area(x, y, 0), at + map.area(x, y, 1)};
    };
    for (int peer = 0; peer < work.place.ranks; ++peer)
      if (map.exchange(rank_, peer))
        partners_.push_back({.rank = peer,
                             .in = map.bytes(peer, rank_),
                             .out = map.bytes(rank_, peer),
                             .to = flag(rank_, peer),
                             .from = flag(peer, rank_),
                             .mine = areas(rank_, peer),
                             .theirs = areas(peer, rank_)});
  }

  void run() override {
    tell();
    for (std::size_t at = 0; at < own_; at += from_.bytes())
      std::memcpy(to_.data() + at, from_.data(), std::min(from_.bytes(), own_ - at));
    wait();
    for (const Partner& p : partners_) std::memcpy(p.mine[1 - now_], p.theirs[now_], p.in);
    tell();
    wait();
    now_ = 1 - now_;
  }

  std::string channel() const override { return "hardware"; }

  // No block is delivered, so what is verified are the bytes that were copied.
  void prepare(Workload&) override {
    salt_ = step_;
    for (const Partner& p : partners_) {
      fill(p.mine[now_], p.out, rank_, p.rank);
      std::memset(p.mine[1 - now_], poison, p.in);
    }
    fill(from_.data(), from_.bytes(), rank_, rank_);
    if (own_ > 0) std::memset(to_.data(), poison, own_);
  }

  bool correct(const Workload&) const override {
    bool good = true;
    for (std::size_t k = 0; k < own_; ++k)
      good = good && to_.data()[k] == value(k % from_.bytes(), rank_, rank_);
    for (const Partner& p : partners_) good = good && holds(p.mine[now_], p.in, p.rank, rank_);
    return good;
  }

 private:
  static constexpr int poison = 255;

  void tell() {
    ++step_;
    for (const Partner& p : partners_) p.to.store(step_, std::memory_order_release);
  }

  void wait() const {
    for (const Partner& p : partners_)
      for (unsigned looks = 1; p.from.load(std::memory_order_acquire) < step_; ++looks) idle(looks);
  }

  // Even with a core for every rank, another program may have taken one. And a rank may have left
  // the barrier before while its MPI still holds a message that others need to leave it.
  void idle(unsigned looks) const {
    if (looks > (crowded_ ? 64u : 8192u)) sched_yield();
    int flag;
    if (looks % 65536 == 0)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE);
  }

  // Differs with the two ranks, the place and the round; never the poison.
  std::byte value(std::size_t place, int from, int to) const {
    const Word z = ((salt_ * 1024 + static_cast<Word>(from)) * 1024 + static_cast<Word>(to) +
                    place * 0x9e3779b97f4a7c15ull) *
                   0xbf58476d1ce4e5b9ull;
    return static_cast<std::byte>((z >> 40) % poison);
  }
  void fill(std::byte* at, std::size_t bytes, int from, int to) const {
    for (std::size_t k = 0; k < bytes; ++k) at[k] = value(k, from, to);
  }
  bool holds(const std::byte* at, std::size_t bytes, int from, int to) const {
    for (std::size_t k = 0; k < bytes; ++k)
      if (at[k] != value(k, from, to)) return false;
    return true;
  }

  NodeMemory memory_;
  MPI_Comm comm_;
  int rank_;
  bool crowded_;
  std::size_t own_;           // bytes that stay here
  tonari::Memory from_, to_;  // where
  std::vector<Partner> partners_;
  Word step_ = 0;  // two to a round
  Word salt_ = 0;
  int now_ = 0;  // the area that others read in this round
};

}  // namespace

bool is_floor(const std::string& name) { return name == "floor"; }

std::unique_ptr<Candidate> make_floor(const Workload& work) {
  const Needs needs = needs_of(work);
  const Map map(needs, work.place);
  auto memory = NodeMemory::share(work.place.cart, map.end());
  return memory ? std::make_unique<Floor>(work, needs, map, std::move(*memory)) : nullptr;
}

}  // namespace bench
