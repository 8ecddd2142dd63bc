// SPDX-License-Identifier: BSD-3-Clause
// What an exchange must deliver, worked out from offsets and ranks alone (never by an MPI
// collective), and buffers that show every byte of it: payload differs per rank, block, byte and
// round; everything else in a receive buffer is poison that must survive.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <tonari/tonari.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/elements.hpp"
#include "support/mpi_main.hpp"
#include "support/ok.hpp"

namespace tonari::test {

// Collective: the same on all ranks; of the environment (TONARI_TEST_SEED), else another each time.
inline unsigned random_seed() {
  const char* const given = std::getenv("TONARI_TEST_SEED");
  unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return seed;
}
// One of the channels that plans can use.
inline constexpr const char* channel_names[] = {"p2p-typed", "p2p-packed", "shared", "onesided",
                                                "shared+onesided"};
inline const char* random_channel(Random& random) {
  return channel_names[random() % std::size(channel_names)];
}

// ---- Who talks to whom

struct Topology {
  std::vector<int> dims, periods;
  std::vector<int> offsets;  // s * d
  std::string name;

  int dimensions() const { return static_cast<int>(dims.size()); }
  int count() const { return static_cast<int>(offsets.size()) / dimensions(); }

  // The rank at R + sign * C^i, or -1. Ranks are numbered in row-major order.
  int neighbor(int rank, int i, int sign) const {
    int target = 0, stride = 1;
    for (int j = dimensions() - 1; j >= 0; --j) {
      int at = rank % dims[j] + sign * offsets[i * dimensions() + j];
      rank /= dims[j];
      if (periods[j]) at = (at % dims[j] + dims[j]) % dims[j];
      if (at < 0 || at >= dims[j]) return -1;
      target += at * stride;
      stride *= dims[j];
    }
    return target;
  }
  int target(int rank, int i) const { return neighbor(rank, i, 1); }
  int source(int rank, int i) const { return neighbor(rank, i, -1); }
  int origin(int, int i) const { return i; }  // which of its blocks that one sends
};

inline MPI_Comm make_cart(const Topology& t) {
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, t.dimensions(), t.dims.data(), t.periods.data(), 0, &cart);
  return cart;
}

// All offsets with low <= c_j <= high, or those along one axis.
inline std::vector<int> box(int d, int low, int high, bool star = false) {
  std::vector<int> list, c(d, low);
  for (;;) {
    const auto moving = std::count_if(c.begin(), c.end(), [](int x) { return x != 0; });
    if (moving > 0 && (!star || moving == 1)) list.insert(list.end(), c.begin(), c.end());
    int j = d - 1;
    while (j >= 0 && c[j] == high) c[j--] = low;
    if (j < 0) return list;
    ++c[j];
  }
}

inline Topology torus_of_all(int d) {
  Topology t;
  t.dims.assign(d, 0);
  t.periods.assign(d, 1);
  MPI_Dims_create(world_size(), d, t.dims.data());
  return t;
}

// ---- One side of an operation

struct Side {
  std::vector<int> counts;
  bool large_counts = false;            // on the sending side: calls take them as MPI_Count (..._c)
  std::vector<MPI_Aint> displacements;  // v: elements, w: bytes
  std::vector<MPI_Datatype> types;
  std::vector<std::vector<Piece>> blocks;  // from the start of memory
  std::vector<Byte> memory;
  std::vector<MPI_Datatype> to_free;

  // bytes before and after that must stay as they are
  static constexpr std::ptrdiff_t front = 32, tail = 40;
  std::ptrdiff_t base = front;  // where the buffer that is passed begins

  Side() = default;
  Side(Side&&) = default;
  Side& operator=(Side&&) = default;
  ~Side() { free_types(); }

  Byte* elsewhere = nullptr;  // calls get this instead of `memory`

  Byte* buffer() { return (elsewhere ? elsewhere : memory.data()) + base; }

  void free_types() {
    for (MPI_Datatype& type : to_free) MPI_Type_free(&type);
    to_free.clear();
  }

  void keep(const Element& e) {
    if (e.ours) to_free.push_back(e.type);
  }
  void add(const Element& e, int count, MPI_Aint displacement, std::ptrdiff_t bytes_from_buffer) {
    counts.push_back(count);
    displacements.push_back(displacement);
    types.push_back(e.type);
    std::vector<Piece> block;
    for (int k = 0; k < count; ++k)
      for (const Piece& p : e.pieces)
        block.push_back({base + bytes_from_buffer + k * e.extent + p.at, p.length});
    blocks.push_back(std::move(block));
  }
  // Types with negative lower bounds reach below the buffer that is passed.
  void allocate() {
    std::ptrdiff_t low = front, end = front;
    for (const auto& block : blocks)
      for (const Piece& p : block) low = std::min(low, p.at);
    for (auto& block : blocks)
      for (Piece& p : block) p.at += front - low;
    base += front - low;
    for (const auto& block : blocks)
      for (const Piece& p : block)
        end = std::max(end, p.at + static_cast<std::ptrdiff_t>(p.length));
    memory.assign(end + tail, 0);
  }
};

inline int divisor(Random& random, int bytes) {
  const int wanted[] = {1, 4, 8, 12, 16, 28, bytes};
  for (int attempt = 0; attempt < 8; ++attempt)
    if (const int u = wanted[pick(random, 0, 6)]; u > 0 && bytes % u == 0 && bytes / u <= 2000)
      return u;
  return bytes > 0 ? bytes : 4;
}

inline Side regular_side(Random& random, Style style, int blocks, int bytes) {
  const int unit = divisor(random, bytes), count = bytes / unit;
  const Element e = make_element(random, style, unit, std::max(1, blocks * count));
  Side side;
  side.keep(e);
  if (blocks == 0) side.types = {e.type}, side.counts = {count};
  for (int i = 0; i < blocks; ++i)
    side.add(e, count, 0, static_cast<std::ptrdiff_t>(i) * count * e.extent);
  side.allocate();
  return side;
}

// sizes: multiples of quantum. Blocks lie in shuffled order with gaps.
inline Side v_side(Random& random, Style style, const std::vector<int>& sizes, int quantum) {
  const int unit = divisor(random, quantum);
  const int total =
      std::accumulate(sizes.begin(), sizes.end(), 0) / unit + 3 * static_cast<int>(sizes.size());
  const Element e = make_element(random, style, unit, std::max(1, total));
  std::vector<int> order(sizes.size()), at(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  int next = 0;
  for (int i : order) {
    at[i] = next;
    next += sizes[i] / unit + pick(random, 0, 2);
  }
  Side side;
  side.keep(e);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    side.add(e, sizes[i] / unit, at[i], at[i] * e.extent);
  if (sizes.empty()) side.types = {e.type};
  side.allocate();
  return side;
}

inline Side w_side(Random& random, const std::vector<int>& sizes) {
  Side side;
  std::ptrdiff_t next = 0;
  for (int size : sizes) {
    const int unit = divisor(random, size), count = size / unit;
    const Element e = make_element(random, static_cast<Style>(pick(random, 0, styles - 1)), unit,
                                   std::max(1, count));
    side.keep(e);
    next += pick(random, 0, 9) + e.below();
    side.add(e, count, next, next);
    for (const Piece& p : side.blocks.back())
      next = std::max(next, p.at - side.base + static_cast<std::ptrdiff_t>(p.length));
  }
  side.allocate();
  return side;
}

// ---- Payload

inline constexpr Byte poison = 0xA5;
inline constexpr Byte unsent = 0x5A;  // between send blocks: nothing of it may arrive

inline Byte payload(int rank, int block, std::size_t k, int round) {
  std::uint32_t x = static_cast<std::uint32_t>(rank + 1) * 0x9E3779B1u ^
                    static_cast<std::uint32_t>(block + 1) * 0x85EBCA77u ^
                    static_cast<std::uint32_t>(round + 1) * 0xC2B2AE3Du ^
                    static_cast<std::uint32_t>(k + 1) * 0x27D4EB2Fu;
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  x ^= x >> 13;
  return static_cast<Byte>(x >> 7);
}

inline void write_block(std::vector<Byte>& memory, const std::vector<Piece>& pieces, int rank,
                        int block, int round) {
  std::size_t k = 0;
  for (const Piece& p : pieces) {
    Byte* const to = memory.data() + p.at;
    for (std::size_t b = 0; b < p.length; ++b) to[b] = payload(rank, block, k++, round);
  }
}

// ---- Operations

enum class Operation { alltoall, alltoallv, alltoallw, allgather, allgatherv, allgatherw };
inline constexpr Operation all_operations[] = {Operation::alltoall,   Operation::alltoallv,
                                               Operation::alltoallw,  Operation::allgather,
                                               Operation::allgatherv, Operation::allgatherw};
inline const char* name(Operation op) {
  static const char* const names[] = {"alltoall",  "alltoallv",  "alltoallw",
                                      "allgather", "allgatherv", "allgatherw"};
  return names[static_cast<int>(op)];
}
inline bool gathers(Operation op) { return op >= Operation::allgather; }
inline int form(Operation op) { return static_cast<int>(op) % 3; }  // regular, v, w

// use(the blocking call, the one that returns at once, the one that makes a request, arguments).
template <class Use>
int of_operation(Operation op, Side& out, Side& in, Use use) {
  void *s = out.buffer(), *r = in.buffer();
  const MPI_Aint *a = out.displacements.data(), *b = in.displacements.data();
  const MPI_Datatype *t = out.types.data(), *u = in.types.data();
#define TONARI_CALLS(name, c) tonari_##name##c, tonari_i##name##c, tonari_##name##_init##c
#define TONARI_OPERATION(c)                                                                       \
  if (op == Operation::alltoall) return use(TONARI_CALLS(alltoall, c), s, *n, *t, r, *m, *u);     \
  if (op == Operation::alltoallv)                                                                 \
    return use(TONARI_CALLS(alltoallv, c), s, n, a, *t, r, m, b, *u);                             \
  if (op == Operation::alltoallw) return use(TONARI_CALLS(alltoallw, c), s, n, a, t, r, m, b, u); \
  if (op == Operation::allgather) return use(TONARI_CALLS(allgather, c), s, *n, *t, r, *m, *u);   \
  if (op == Operation::allgatherv)                                                                \
    return use(TONARI_CALLS(allgatherv, c), s, *n, *t, r, m, b, *u);                              \
  return use(TONARI_CALLS(allgatherw, c), s, *n, *t, r, m, b, u);
  if (out.large_counts) {
    const std::vector<MPI_Count> sent(out.counts.begin(), out.counts.end()),
        received(in.counts.begin(), in.counts.end());
    const MPI_Count *n = sent.data(), *m = received.data();
    TONARI_OPERATION(_c)
  }
  const int *n = out.counts.data(), *m = in.counts.data();
  TONARI_OPERATION()
#undef TONARI_OPERATION
#undef TONARI_CALLS
}

inline int init(Operation op, Side& out, Side& in, tonari_neighborhood near, MPI_Info info,
                tonari_request* request) {
  return of_operation(op, out, in, [&](auto, auto, auto make, auto... arguments) {
    return make(arguments..., near, info, request);
  });
}

// The buffers of one operation on this rank.
struct Buffers {
  Operation op;
  Side out, in;
  std::vector<Byte> sent;

  void prepare(int rank, int round) {
    std::fill(out.memory.begin(), out.memory.end(), unsent);
    for (std::size_t i = 0; i < out.blocks.size(); ++i)
      write_block(out.memory, out.blocks[i], rank, static_cast<int>(i), round);
    sent = out.memory;
    std::fill(in.memory.begin(), in.memory.end(), poison);
  }

  // Empty if everything is where it must be, else what is not.
  // t: says which block of which rank each receive block is.
  template <class Senders>
  std::string wrong(const Senders& t, int rank, int round) const {
    if (out.memory != sent) return "the send buffer was changed";
    std::vector<Byte> want(in.memory.size(), poison);
    for (std::size_t i = 0; i < in.blocks.size(); ++i)
      if (const int source = t.source(rank, static_cast<int>(i)); source >= 0)
        write_block(want, in.blocks[i], source,
                    gathers(op) ? 0 : t.origin(rank, static_cast<int>(i)), round);
    if (want == in.memory) return "";
    const auto at = std::mismatch(want.begin(), want.end(), in.memory.begin()).first - want.begin();
    for (std::size_t i = 0; i < in.blocks.size(); ++i)
      for (const Piece& p : in.blocks[i])
        if (at >= p.at && at < p.at + static_cast<std::ptrdiff_t>(p.length))
          return "receive block " + std::to_string(i) + " (from " +
                 std::to_string(t.source(rank, static_cast<int>(i))) + ") is wrong at byte " +
                 std::to_string(at - p.at) + " of a piece of " + std::to_string(p.length);
    return "a byte outside of all blocks was written, at " + std::to_string(at - in.base) +
           " from the receive buffer";
  }
};

// ---- Information objects

class Info {
 public:
  explicit Info(std::initializer_list<std::pair<const char*, std::string>> entries) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : entries) MPI_Info_set(info_, key, value.c_str());
  }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// ---- How much to test: ranks that outnumber the cores make each collective step slow, most of all
// where the MPI spins.

inline bool ranks_are_slow() { return world_size() > (mpi_spins() ? 2 : 4); }

// In `make test-long`.
inline bool every_case() { return std::getenv("TONARI_TEST_EVERY_CASE") != nullptr; }

// Ranks that share cores: objects that cost microseconds elsewhere cost milliseconds. Fewer cases
// then.
inline bool crowded() { return world_size() > (every_case() ? 3 : 2) || ranks_are_slow(); }

// `many` cases where they are cheap, on one rank and on two, in `make test-long`; elsewhere a part
// of them, from the first one on. The same on all ranks.
inline int cases(int many) {
  const int ranks = world_size();
  if (ranks <= 2) return every_case() ? many : std::max(std::min(many, 6), many / 3);
  const int divide = mpi_spins() ? (ranks <= 4 ? 50 : 200) : (ranks <= 4 ? 4 : 12);
  return std::max(1, many / divide);
}

}  // namespace tonari::test
