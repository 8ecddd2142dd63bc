// SPDX-License-Identifier: BSD-3-Clause
// Vectors that all ranks know as a whole, and what every value of them must be: a function of its
// index, computed without asking the library.
#pragma once

#include <gtest/gtest.h>
#include <tonari/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/graph_exchange.hpp"
#include "support/must.hpp"

namespace tonari::test {

// Where waiting ranks spin and outnumber the cores, every message costs a time slice: only what
// depends on the number of ranks is worth it.
inline bool very_slow() { return mpi_spins() && world_size() > 3; }

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Who owns and who needs what.
struct Sharing {
  struct Range {
    std::int64_t first = 0, count = 0;
  };
  std::int64_t size = 0;
  std::vector<Range> own;                        // by rank
  std::vector<std::vector<std::int64_t>> needs;  // by rank

  const Range& mine() const { return own[static_cast<std::size_t>(world_rank())]; }
  const std::vector<std::int64_t>& my_needs() const {
    return needs[static_cast<std::size_t>(world_rank())];
  }
  bool owns(std::size_t rank, std::int64_t index) const {
    return index >= own[rank].first && index < own[rank].first + own[rank].count;
  }
};

// A ring of parts of this size: each rank needs the last value of its left and the first of its
// right neighbor, the latter so many times.
inline Sharing ring(std::int64_t part, std::size_t times = 1) {
  Sharing s;
  const std::int64_t ranks = world_size();
  s.size = ranks * part;
  for (std::int64_t r = 0; r < ranks; ++r) {
    s.own.push_back({r * part, part});
    s.needs.emplace_back(1 + times, (r + 1) * part % s.size)[0] = (r * part + s.size - 1) % s.size;
  }
  return s;
}

// Ranges in any order of ranks, some of them empty.
inline Sharing draw_ranges(Random& random, int most) {
  Sharing sharing;
  const auto ranks = static_cast<std::size_t>(world_size());
  std::vector<std::size_t> order(ranks);
  for (std::size_t r = 0; r < ranks; ++r) order[r] = r;
  if (pick(random, 0, 1)) std::shuffle(order.begin(), order.end(), random);
  sharing.own.resize(ranks);
  sharing.needs.resize(ranks);
  for (const std::size_t r : order) {
    sharing.own[r] = {sharing.size, pick(random, 0, 3) == 0 ? 0 : pick(random, 1, most)};
    sharing.size += sharing.own[r].count;
    if (sharing.own[r].count == 0) sharing.own[r].first = pick(random, -5, 1000);  // of no meaning
  }
  return sharing;
}

enum class Needs { random, band, hot_spot, few, none };
inline constexpr Needs all_needs[] = {Needs::random, Needs::band, Needs::hot_spot, Needs::few,
                                      Needs::none};

inline Sharing draw_sharing(Random& random, Needs kind, int most = 40) {
  Sharing s = draw_ranges(random, most);
  const int last = static_cast<int>(s.size) - 1;
  if (s.size == 0) return s;
  const int hot = pick(random, 0, last);
  for (std::size_t r = 0; r < s.needs.size(); ++r) {
    std::vector<std::int64_t>& needs = s.needs[r];
    switch (kind) {
      case Needs::random:  // repeats and own ones among them
        for (int k = pick(random, 0, 2 * most); k > 0; --k) needs.push_back(pick(random, 0, last));
        break;
      case Needs::band:  // in order, none twice: what is received in place
        for (std::int64_t i = s.own[r].first - most; i < s.own[r].first + s.own[r].count + most;
             ++i)
          if (s.own[r].count > 0 && i >= 0 && i < s.size && !s.owns(r, i)) needs.push_back(i);
        break;
      case Needs::hot_spot:
        needs.assign(static_cast<std::size_t>(pick(random, 1, 3)), hot);
        break;
      case Needs::few:  // others need nothing and have nothing that anyone needs
        if (r % 3 == 1) needs.assign({pick(random, 0, last), hot, pick(random, 0, last)});
        break;
      case Needs::none:
        break;
    }
  }
  return s;
}

inline constexpr const char* all_routes[] = {
    "direct",   "store-and-forward/1", "store-and-forward/2", "store-and-forward/3", "node",
    "balanced", "message-sharing"};

// Those that this number of ranks has.
inline std::vector<std::string> routes() {
  std::vector<std::string> some;
  for (const char* const route : all_routes)
    if (world_size() >= 8 || (std::string(route) != "store-and-forward/3" &&
                              (world_size() >= 4 || std::string(route) != "store-and-forward/2")))
      some.emplace_back(route);
  return some;
}

// For case k: all of them, or two in turn where there is little time.
inline std::vector<std::string> routes_of_case(int k) {
  const std::vector<std::string> all = routes();
  if (!crowded()) return all;
  const std::string &first = all[static_cast<std::size_t>(k) % all.size()],
                    &second = all[static_cast<std::size_t>(k + 2) % all.size()];
  return very_slow() ? std::vector{first} : std::vector{first, second};
}

inline tonari_vector make_vector(const Sharing& s, const std::string& route) {
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(tonari_vector_create(
      MPI_COMM_WORLD, s.mine().first, s.mine().count,
      static_cast<std::int64_t>(s.my_needs().size()), s.my_needs().data(),
      Info{{"tonari_route", route}, {"tonari_tune", route == "auto" ? "auto" : "off"}}, &vector));
  return vector;
}

// Values of both kinds in one array or two, with gaps that must survive. Everything counts in
// values of `bytes` bytes.
struct Arrays {
  int components = 1, vectors = 1;
  std::size_t bytes = 8;
  std::int64_t owned_stride = 0, ghost_stride = 0, owned_count = 0, ghost_count = 0;
  std::vector<unsigned char> memory;
  std::size_t owned_at = 0, ghosts_at = 0;  // bytes

  // common: drawn alike on all ranks; own: not.
  Arrays(Random& common, Random& own, const Sharing& s, std::size_t value_bytes, bool plain = false)
      : bytes(value_bytes) {
    components = plain ? 1 : pick(common, 1, 3), vectors = plain ? 1 : pick(common, 1, 3);
    owned_count = s.mine().count * components,
    ghost_count = static_cast<std::int64_t>(s.my_needs().size()) * components;
    const bool interleaved = !plain && pick(own, 0, 1);
    owned_stride = interleaved ? owned_count + ghost_count + pick(own, 0, 3)
                               : owned_count + (plain ? 0 : pick(own, 0, 3));
    ghost_stride = interleaved ? owned_stride : ghost_count + (plain ? 0 : pick(own, 0, 3));
    owned_at = 64,
    ghosts_at = owned_at + bytes * static_cast<std::size_t>(interleaved ? owned_count
                                                                        : vectors * owned_stride);
    memory.assign(
        ghosts_at + bytes * static_cast<std::size_t>(vectors * ghost_stride + owned_count) + 64,
        static_cast<unsigned char>(0x80 + world_rank() % 100));
  }
  unsigned char* owned() { return memory.data() + owned_at; }
  unsigned char* ghosts() { return memory.data() + ghosts_at; }
  // Of local index i.
  unsigned char* owned(std::int64_t i, int c, int v) {
    return owned() + static_cast<std::size_t>(v * owned_stride + i * components + c) * bytes;
  }
  unsigned char* ghost(std::int64_t k, int c, int v) {
    return ghosts() + static_cast<std::size_t>(v * ghost_stride + k * components + c) * bytes;
  }
  template <class F>
  void for_owned(F f) {
    for (int v = 0; v < vectors; ++v)
      for (std::int64_t i = 0; i < owned_count / components; ++i)
        for (int c = 0; c < components; ++c) f(i, c, v, owned(i, c, v));
  }
  template <class F>
  void for_ghosts(F f) {
    for (int v = 0; v < vectors; ++v)
      for (std::int64_t k = 0; k < ghost_count / components; ++k)
        for (int c = 0; c < components; ++c) f(k, c, v, ghost(k, c, v));
  }
  // 0 stands for what is the default, now and then.
  tonari_vector_values values(MPI_Datatype type) const {
    tonari_vector_values values{};
    values.type = type;
    values.components = components == 1 && world_rank() % 2 ? 0 : components,
    values.vectors = vectors == 1 && world_rank() % 2 ? 0 : vectors;
    values.owned_stride = owned_stride == owned_count ? 0 : owned_stride,
    values.ghost_stride = ghost_stride == ghost_count ? 0 : ghost_stride;
    return values;
  }
};

// Arrays of one shape that a request exchanges in turn; those in use are `a`.
class InTurn {
 public:
  InTurn(Arrays& a, int arrays, Random& own) : a_(a), own_(own) {
    spare_.assign(static_cast<std::size_t>(arrays - 1), a.memory);
  }
  // Before a start. Each rank draws for itself.
  void next() {
    if (!spare_.empty()) a_.memory.swap(spare_[own_() % spare_.size()]);
  }

 private:
  Arrays& a_;
  Random& own_;
  std::vector<std::vector<unsigned char>> spare_;
};

class VectorTest : public testing::Test {
 protected:
  Nodes nodes;
};

inline void run_with(tonari_request request, const void* from, void* to, bool by_test) {
  must(tonari_start_with(request, from, to));
  must(complete(request, by_test));
}

inline void run(tonari_request request, bool by_test = false) {
  must(tonari_start(request));
  must(complete(request, by_test));
}

}  // namespace tonari::test
