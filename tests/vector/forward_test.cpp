// SPDX-License-Identifier: BSD-3-Clause
// Ghosts hold the values of their owners: all routes, channels, types, components, vectors and
// strides, on random patterns.
#include "support/fresh_wisdom.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

// The bytes of a value, all different.
void put_value(unsigned char* at, std::size_t bytes, std::int64_t index, int component, int vector,
               int round) {
  const std::uint64_t number = mix(static_cast<std::uint64_t>(index) * 64 +
                                   static_cast<std::uint64_t>(component * 16 + vector * 4 + round));
  for (std::size_t done = 0; done < bytes; done += 8) {
    const std::uint64_t word = mix(number + done);
    std::memcpy(at + done, &word, std::min<std::size_t>(8, bytes - done));
  }
}

void fill(Arrays& a, const Sharing& s, int round) {
  a.for_owned([&](std::int64_t i, int c, int v, unsigned char* at) {
    put_value(at, a.bytes, s.mine().first + i, c, v, round);
  });
  a.for_ghosts([&](std::int64_t, int, int, unsigned char* at) {
    std::memset(at, 0x70 + world_rank() % 16, a.bytes);
  });
}

// What must lie in memory after an exchange, gaps and owned values included.
std::vector<unsigned char> expected(Arrays a, const Sharing& s, int round) {
  a.for_ghosts([&](std::int64_t k, int c, int v, unsigned char* at) {
    put_value(at, a.bytes, s.my_needs()[static_cast<std::size_t>(k)], c, v, round);
  });
  return a.memory;
}

struct CaseType {
  MPI_Datatype type;
  std::size_t bytes;
};

class VectorForward : public VectorTest {
 protected:
  void SetUp() override {
    VectorTest::SetUp();
    MPI_Type_contiguous(3, MPI_INT32_T, &triple);
    MPI_Type_commit(&triple);
  }
  void TearDown() override { MPI_Type_free(&triple); }
  CaseType draw_type(Random& random) const {
    const CaseType types[] = {{MPI_DOUBLE, 8}, {MPI_FLOAT, 4}, {MPI_C_DOUBLE_COMPLEX, 16},
                              {MPI_CHAR, 1},   {triple, 12},   {MPI_DOUBLE, 8}};
    return types[pick(random, 0, 5)];
  }

  // arrays: that one request exchanges in turn; 0: one-shot calls, with any.
  void exchange(tonari_vector vector, const Sharing& s, Random& common, const std::string& channel,
                int arrays) {
    const bool once = arrays == 0;
    Random own(common() + 31u * static_cast<unsigned>(world_rank()));
    const CaseType type = draw_type(common);
    Arrays a(common, own, s, type.bytes, pick(common, 0, 3) == 0);
    const tonari_vector_values values = a.values(type.type);
    tonari_request request = TONARI_REQUEST_NULL;
    if (!once)
      must(tonari_vector_forward_init(
          vector, &values, a.owned(), a.ghosts(),
          Info{{"tonari_channel", channel}, {"tonari_tune", tune}, {"tonari_recv_view", "yes"}},
          &request));
    InTurn in_turn(a, once ? 3 : arrays, own);
    for (int round = 0; round < std::max(rounds, arrays > 1 ? 12 : 3); ++round) {
      if (arrays != 1) in_turn.next();
      fill(a, s, round % 4);
      const std::vector<unsigned char> wanted = expected(a, s, round % 4);
      if (once)
        must(tonari_vector_forward(vector, &values, a.owned(), a.ghosts()));
      else if (arrays > 1)
        run_with(request, a.owned(), a.ghosts(), (world_rank() + round) % 2 == 0);
      else
        run(request, (world_rank() + round) % 2 == 0);
      EXPECT_TRUE(a.memory == wanted)
          << "round " << round << "\n"
          << (request ? tonari_request_describe(request) : "one-shot call");
    }
    must(tonari_request_free(&request));
  }

  MPI_Datatype triple = MPI_DATATYPE_NULL;
  const char* tune = "off";
  int rounds = 0;  // or more
};

TEST_F(VectorForward, RandomPatterns) {
  const int cases = crowded() ? 5 : 25;
  for (int k = 0; k < cases; ++k)
    for (const std::string& route : routes_of_case(k)) {
      Random common(static_cast<unsigned>(100 * k + world_size()));
      const Split& split = splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)];
      Nodes::set(split.text);
      const Sharing s = draw_sharing(common, all_needs[k % 5], pick(common, 1, 60));
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route + ", nodes " + split.text);
      tonari_vector vector = make_vector(s, route);
      exchange(vector, s, common, random_channel(common), 1);
      exchange(vector, s, common, "auto", 0);
      must(tonari_vector_free(&vector));
    }
}

// Also ranks that have nothing to move take part in the choice, hop by hop.
TEST_F(VectorForward, RandomPatternsWhoseStartsChoose) {
  tune = "online", rounds = crowded() ? 12 : 80;
  for (int k = 0; k < (crowded() ? 5 : 10); ++k)
    for (const std::string& route : routes_of_case(k)) {
      const FreshWisdom wisdom("0.02");
      Random common(static_cast<unsigned>(9000 + 100 * k + world_size()));
      const Sharing s = draw_sharing(common, all_needs[k % 5], pick(common, 1, 60));
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route);
      tonari_vector vector = make_vector(s, route);
      exchange(vector, s, common, "auto", 1 + 3 * (k % 2));
      must(tonari_vector_free(&vector));
    }
}

TEST_F(VectorForward, AnyArraysByOneRequest) {
  const int cases = crowded() ? 3 : 12;
  for (int k = 0; k < cases; ++k)
    for (const std::string& route : routes_of_case(k)) {
      Random common(static_cast<unsigned>(5000 + 100 * k + world_size()));
      const Sharing s = draw_sharing(common, all_needs[k % 5], pick(common, 1, 60));
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route);
      tonari_vector vector = make_vector(s, route);
      exchange(vector, s, common, random_channel(common), 2 + 10 * (k % 2));
      must(tonari_vector_free(&vector));
    }
}

// The default call: one vector of doubles.
TEST_F(VectorForward, Doubles) {
  Random common(7);
  for (const std::string& route : routes_of_case(2)) {
    const Sharing s = draw_sharing(common, Needs::random);
    tonari_vector vector = make_vector(s, route);
    std::vector<double> x(static_cast<std::size_t>(s.mine().count)), ghosts(s.my_needs().size());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = 0.5 * static_cast<double>(s.mine().first + static_cast<std::int64_t>(i));
    must(tonari_vector_forward(vector, nullptr, x.data(), ghosts.data()));
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      EXPECT_EQ(ghosts[k], 0.5 * static_cast<double>(s.my_needs()[k]));
    must(tonari_vector_free(&vector));
  }
}

// Values of very different sizes, and more of them than what is copied at once.
TEST_F(VectorForward, LongLists) {
  Random common(11);
  for (const Needs kind : {Needs::band, Needs::random}) {
    const Sharing s = draw_sharing(common, kind, 3000);
    for (const std::string& route : routes_of_case(kind == Needs::band ? 0 : 2)) {
      tonari_vector vector = make_vector(s, route);
      for (const char* const channel : {"shared", "auto", "p2p-packed"})
        if (!very_slow() || std::string(channel) == "shared")
          exchange(vector, s, common, channel, 1);
      must(tonari_vector_free(&vector));
    }
  }
}

}  // namespace
