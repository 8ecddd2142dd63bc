// SPDX-License-Identifier: BSD-3-Clause
// The floor: what no way to deliver the blocks of ranks on one node can leave out. Per round
//
//   one flag from every rank that something comes from, through shared memory: mine is ready;
//   one copy of all bytes from each of them to where they are received;
//   one copy of the bytes that stay on the rank.
//
// Nobody says "yours is taken", since a sender that has copied its blocks need not wait for that.
// The bytes stay the same from round to round, as those of all other candidates do. So they lie in
// the reader's cache, and no candidate reads them from a nearer one.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

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

// Which rank needs how much from which, and where in the shared memory that lies; the same on all.
class Map {
 public:
  Map(const Needs& needs, const Place& place)
      : ranks_(place.ranks), bytes_(ranks_ * ranks_), areas_(ranks_ * ranks_) {
    MPI_Allgather(needs.from.data(), place.ranks, MPI_UINT64_T, bytes_.data(), place.ranks,
                  MPI_UINT64_T, place.cart);
    end_ = ranks_ * ranks_ * unit;
    for (std::size_t x = 0; x < ranks_; ++x) {
      end_ = round_up(end_, 4096);  // pages of the rank that writes them
      for (std::size_t y = 0; y < ranks_; ++y)
        areas_[x * ranks_ + y] = std::exchange(end_, end_ + round_up(bytes(x, y), unit));
    }
  }

  std::size_t bytes(std::size_t from, std::size_t to) const { return bytes_[to * ranks_ + from]; }
  std::size_t flag(std::size_t from, std::size_t to) const { return (from * ranks_ + to) * unit; }
  std::size_t area(std::size_t from, std::size_t to) const { return areas_[from * ranks_ + to]; }
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

// One direction between this rank and another one.
struct Edge {
  int rank;  // the other one
  std::size_t bytes;
  std::atomic_ref<Word> flag;  // rounds that the sender has begun
  std::byte* area;             // of the sender
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
    const auto edge = [&](int peer, int from, int to) {
      std::byte* const at = memory_.data();
      const std::atomic_ref<Word> flag(*reinterpret_cast<Word*>(at + map.flag(from, to)));
      return Edge{peer, map.bytes(from, to), flag, at + map.area(from, to)};
    };
    std::size_t received = 0;
    for (int peer = 0; peer < work.place.ranks; ++peer) {
      if (peer == rank_) continue;
      if (map.bytes(peer, rank_) > 0) sources_.push_back(edge(peer, peer, rank_));
      if (map.bytes(rank_, peer) > 0) targets_.push_back(edge(peer, rank_, peer));
      received += map.bytes(peer, rank_);
    }
    received_ = tonari::Memory(received);
  }

  void run() override {
    ++step_;
    for (const Edge& target : targets_) target.flag.store(step_, std::memory_order_release);
    for (std::size_t at = 0; at < own_; at += from_.bytes())
      std::memcpy(to_.data() + at, from_.data(), std::min(from_.bytes(), own_ - at));
    std::byte* to = received_.data();
    for (const Edge& source : sources_) {
      wait(source);
      std::memcpy(std::exchange(to, to + source.bytes), source.area, source.bytes);
    }
  }

  std::string channel() const override { return "hardware"; }

  // No block is delivered, so what is verified are the bytes that were copied. Others may still
  // copy those of the exchange before.
  void prepare(Workload&) override {
    MPI_Barrier(comm_);
    salt_ = step_;
    for (const Edge& target : targets_) fill(target.area, target.bytes, rank_, target.rank);
    fill(from_.data(), from_.bytes(), rank_, rank_);
    for (const tonari::Memory* memory : {&received_, &to_})
      if (memory->bytes() > 0) std::memset(memory->data(), poison, memory->bytes());
  }

  bool correct(const Workload&) const override {
    bool good = true;
    for (std::size_t k = 0; k < own_; ++k)
      good = good && to_.data()[k] == value(k % from_.bytes(), rank_, rank_);
    const std::byte* at = received_.data();
    for (const Edge& source : sources_)
      good = good && holds(std::exchange(at, at + source.bytes), source.bytes, source.rank, rank_);
    return good;
  }

 private:
  static constexpr int poison = 255;

  void wait(const Edge& source) const {
    for (unsigned looks = 1; source.flag.load(std::memory_order_acquire) < step_; ++looks)
      idle(looks);
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
  std::vector<Edge> sources_, targets_;
  tonari::Memory received_;
  Word step_ = 0;  // rounds that have begun
  Word salt_ = 0;
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
