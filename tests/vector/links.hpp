// SPDX-License-Identifier: BSD-3-Clause
// Vectors as codes have them, known to all ranks as links from place to place, and what exchanges
// of any fields must leave in memory. No index and no owner occurs in what is expected.
#pragma once

#include <map>

#include "vector/vectors.hpp"

namespace tonari::test {

// A value goes from a place in `owned` of one rank to a place in `ghosts` of another, or the same.
struct Link {
  int from;
  std::int64_t owned;
  int to;
  std::int64_t ghost;
};

enum class ArrayKind { two, one, shared };  // shared: one, and places are owned and ghosts

struct Links {
  ArrayKind arrays = ArrayKind::two;
  std::vector<std::int64_t> owned_length, ghost_length;  // by rank
  std::vector<Link> all;
  bool forward = true;  // no ghost has two values
};

inline std::vector<std::int64_t> shuffled(Random& random, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = first + static_cast<std::int64_t>(k);
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

struct FieldType {
  MPI_Datatype type;
  std::size_t bytes;
  int kind;  // 0: bytes
};

inline void put(const FieldType& type, unsigned char* at, double number) {
  const auto as = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (type.kind) {
    case 1:
      return as(number);
    case 2:
      return as(static_cast<float>(number));
    case 3:
      return as(static_cast<std::int64_t>(number));
    case 4:
      return as(static_cast<std::int32_t>(number));
    default:
      for (std::size_t b = 0; b < type.bytes; ++b)
        at[b] = static_cast<unsigned char>(mix(static_cast<std::uint64_t>(number) + b));
  }
}

// Memory of one field on this rank: a guard, then one array or two.
struct FieldMemory {
  FieldType type{};
  int components = 1, vectors = 1, number = 0;
  std::int64_t owned_stride = 0, ghost_stride = 0;
  std::size_t ghosts_at = 0;
  std::vector<unsigned char> memory;

  FieldMemory(Random& common, Random& own, const Links& links, FieldType t, int n)
      : type(t), number(n) {
    components = pick(common, 1, 3), vectors = pick(common, 1, 2);
    const auto me = static_cast<std::size_t>(world_rank());
    const std::int64_t owned = links.owned_length[me], ghosts = links.ghost_length[me];
    const bool one = links.arrays != ArrayKind::two;
    owned_stride = (one ? std::max(owned, ghosts) : owned) * components + pick(own, 0, 2);
    ghost_stride = one ? owned_stride : ghosts * components + pick(own, 0, 2);
    const auto room = [&](std::int64_t stride) {
      return static_cast<std::size_t>(stride * vectors) * type.bytes;
    };
    const std::size_t guard = 64;
    ghosts_at = one ? guard : guard + (room(owned_stride) + 63) / 64 * 64;
    memory.assign(ghosts_at + room(ghost_stride) + guard, 0x5a);
  }
  unsigned char* owned() { return memory.data() + 64; }
  unsigned char* ghosts() { return memory.data() + ghosts_at; }
  std::size_t at(std::int64_t place, std::int64_t stride, int c, int v) const {
    return static_cast<std::size_t>(v * stride + place * components + c) * type.bytes;
  }
  unsigned char* owned(std::int64_t i, int c, int v) { return owned() + at(i, owned_stride, c, v); }
  unsigned char* ghost(std::int64_t k, int c, int v) {
    return ghosts() + at(k, ghost_stride, c, v);
  }
  tonari_vector_field field() {
    tonari_vector_field given{};
    given.values.type = type.type, given.values.components = components,
    given.values.vectors = vectors, given.values.owned_stride = owned_stride,
    given.values.ghost_stride = ghost_stride;
    given.owned = owned(), given.ghosts = ghosts();
    return given;
  }
};

// What lies at a place of a rank before the exchange. In one array a place is the same place for
// both.
inline double initial(const Links& links, int rank, std::int64_t place, bool ghost,
                      const FieldMemory& f, int c, int v, int round) {
  const bool apart = ghost && links.arrays == ArrayKind::two;
  const std::uint64_t number = mix(static_cast<std::uint64_t>(
      ((((place * 64 + rank) * 4 + c) * 4 + v) * 8 + f.number) * 16 + round * 2 + apart));
  return static_cast<double>(number % 10007);
}

inline void fill(const Links& links, FieldMemory& f, int round) {
  const auto me = static_cast<std::size_t>(world_rank());
  for (int v = 0; v < f.vectors; ++v)
    for (int c = 0; c < f.components; ++c) {
      for (std::int64_t i = 0; i < links.owned_length[me]; ++i)
        put(f.type, f.owned(i, c, v), initial(links, world_rank(), i, false, f, c, v, round));
      for (std::int64_t k = 0; k < links.ghost_length[me]; ++k)
        put(f.type, f.ghost(k, c, v), initial(links, world_rank(), k, true, f, c, v, round));
    }
}

inline std::vector<unsigned char> after_forward(const Links& links, FieldMemory f, int round) {
  for (const Link& link : links.all)
    for (int v = 0; v < f.vectors; ++v)
      for (int c = 0; c < f.components; ++c)
        if (link.to == world_rank())
          put(f.type, f.ghost(link.ghost, c, v),
              initial(links, link.from, link.owned, false, f, c, v, round));
  return f.memory;
}

inline double combined(MPI_Op op, double a, double b) {
  return op == MPI_SUM ? a + b : op == MPI_MIN ? std::min(a, b) : std::max(a, b);
}

inline std::vector<unsigned char> after_reverse(const Links& links, FieldMemory f, int round,
                                                MPI_Op op) {
  for (int v = 0; v < f.vectors; ++v)
    for (int c = 0; c < f.components; ++c) {
      std::map<std::int64_t, double> sums;
      for (const Link& link : links.all) {
        if (link.from != world_rank()) continue;
        const double mine = initial(links, link.from, link.owned, false, f, c, v, round);
        double& sum = sums.try_emplace(link.owned, mine).first->second;
        sum = combined(op, sum, initial(links, link.to, link.ghost, true, f, c, v, round));
      }
      for (const auto& [place, sum] : sums) put(f.type, f.owned(place, c, v), sum);
    }
  return f.memory;
}

// Combined at the owners, and then everywhere.
inline std::vector<unsigned char> after_combine(const Links& links, FieldMemory f, int round,
                                                MPI_Op op) {
  for (int v = 0; v < f.vectors; ++v)
    for (int c = 0; c < f.components; ++c) {
      std::map<std::pair<int, std::int64_t>, double> sums;
      for (const Link& link : links.all) {
        const double mine = initial(links, link.from, link.owned, false, f, c, v, round);
        double& sum = sums.try_emplace({link.from, link.owned}, mine).first->second;
        sum = combined(op, sum, initial(links, link.to, link.ghost, true, f, c, v, round));
      }
      for (const Link& link : links.all) {
        const double sum = sums[{link.from, link.owned}];
        if (link.from == world_rank()) put(f.type, f.owned(link.owned, c, v), sum);
        if (link.to == world_rank()) put(f.type, f.ghost(link.ghost, c, v), sum);
      }
    }
  return f.memory;
}

// Whether some place of a rank is sent from and received into.
inline bool places_meet(const Links& links) {
  if (links.arrays == ArrayKind::two) return false;
  return std::ranges::any_of(links.all, [&](const Link& a) {
    return std::ranges::any_of(links.all,
                               [&](const Link& b) { return a.from == b.to && a.owned == b.ghost; });
  });
}

// Fields of any kinds, through requests and one-shot calls, all ways.
inline void expect_exchanges(tonari_vector vector, const Links& links, Random& common, int most) {
  MPI_Datatype triple;
  MPI_Type_contiguous(3, MPI_CHAR, &triple);
  MPI_Type_commit(&triple);
  const FieldType types[] = {{MPI_DOUBLE, 8, 1},
                             {MPI_FLOAT, 4, 2},
                             {MPI_INT64_T, 8, 3},
                             {MPI_INT32_T, 4, 4},
                             {triple, 3, 0}};
  Random own(common() + 31u * static_cast<unsigned>(world_rank()));
  const int ways = links.forward && !places_meet(links) ? 3 : 2;
  for (int time = 0; time < ways; ++time) {
    const bool combine = time == 2, reverse = combine || !links.forward || time == 1;
    const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX}, op = ops[pick(common, 0, 2)];
    std::vector<FieldMemory> memories;
    std::vector<tonari_vector_field> fields;
    const int count = pick(common, 1, most);
    for (int f = 0; f < count; ++f)
      memories.emplace_back(common, own, links, types[pick(common, 0, reverse ? 3 : 4)], f);
    for (FieldMemory& memory : memories) fields.push_back(memory.field());
    tonari_request request = TONARI_REQUEST_NULL;
    const Info info{{"tonari_tune", "off"},
                    {"tonari_channel", pick(common, 0, 1) ? "auto" : "p2p-packed"}};
    must(combine
             ? tonari_vector_combine_fields_init(vector, count, fields.data(), op, info, &request)
         : reverse
             ? tonari_vector_reverse_fields_init(vector, count, fields.data(), op, info, &request)
             : tonari_vector_forward_fields_init(vector, count, fields.data(), info, &request));
    for (int round = 0; round < 5; ++round) {
      for (FieldMemory& memory : memories) {
        if (round >= 3) std::vector(memory.memory).swap(memory.memory);  // it lies elsewhere then
        fill(links, memory, round);
      }
      fields.clear();
      for (FieldMemory& memory : memories) fields.push_back(memory.field());
      std::vector<std::vector<unsigned char>> wanted;
      for (FieldMemory& memory : memories)
        wanted.push_back(combine   ? after_combine(links, memory, round, op)
                         : reverse ? after_reverse(links, memory, round, op)
                                   : after_forward(links, memory, round));
      if (round < 2)
        run(request, round == 1);
      else
        must(combine   ? tonari_vector_combine_fields(vector, count, fields.data(), op)
             : reverse ? tonari_vector_reverse_fields(vector, count, fields.data(), op)
                       : tonari_vector_forward_fields(vector, count, fields.data()));
      for (std::size_t f = 0; f < memories.size(); ++f)
        EXPECT_EQ(memories[f].memory, wanted[f]) << (combine   ? "combine"
                                                     : reverse ? "reverse"
                                                               : "forward")
                                                 << ", field " << f << ", round " << round
                                                 << ", arrays " << static_cast<int>(links.arrays);
    }
    must(tonari_request_free(&request));
  }
  MPI_Type_free(&triple);
}

// Draws cases, makes their vectors over several routes, and compares exchanges of them. rounds: of
// each. Stops at the first case that fails.
template <class Draw>
void expect_random_cases(Draw draw, int rounds) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  const int cases = very_slow() ? 3 : crowded() ? 12 : every_case() ? 40 : 16;
  for (int k = 0; k < cases; ++k) {
    const auto drawn = draw(common);
    for (const std::string& route : routes_of_case(k)) {
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route);
      tonari_vector vector = drawn.make(route);
      expect_exchanges(vector, drawn.links, common, rounds);
      must(tonari_vector_free(&vector));
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace tonari::test
