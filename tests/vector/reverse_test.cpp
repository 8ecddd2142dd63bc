// SPDX-License-Identifier: BSD-3-Clause
// Owners hold the sums, minima and maxima of what all ranks contribute: all routes, types and
// operations, on random patterns; and sums are the same bit by bit.
#include <complex>

#include "support/fresh_wisdom.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

template <class T>
T small(std::int64_t a, std::int64_t b, int c, int v, int round) {
  const auto number = static_cast<int>(
      mix(static_cast<std::uint64_t>(a * 1'000'003 + b * 1009 + c * 31 + v * 7 + round)) % 2001);
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(number);
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number - 1000);
  else
    return T(static_cast<typename T::value_type>(number - 1000),
             static_cast<typename T::value_type>(number % 77));
}

template <class T>
T contribution(std::size_t rank, std::size_t k, int c, int v, int round) {
  return small<T>(static_cast<std::int64_t>(rank) + 1, static_cast<std::int64_t>(k), c, v, round);
}
template <class T>
T before(std::int64_t index, int c, int v, int round) {
  return small<T>(0, index, c, v, round);
}

template <class T>
T combined(T a, T b, MPI_Op op) {
  if (op == MPI_SUM) return a + b;
  if constexpr (std::is_arithmetic_v<T>) return op == MPI_MIN ? std::min(a, b) : std::max(a, b);
  return a;
}

class VectorReverse : public VectorTest {
 protected:
  const char* tune = "off";
  int rounds = 0;  // or more

  template <class T>
  void exchange(tonari_vector vector, const Sharing& s, Random& common, MPI_Datatype type,
                MPI_Op op, const std::string& channel, int arrays) {
    const bool once = arrays == 0;
    Random own(common() + 31u * static_cast<unsigned>(world_rank()));
    Arrays a(common, own, s, sizeof(T), pick(common, 0, 3) == 0);
    const tonari_vector_values values = a.values(type);
    tonari_request request = TONARI_REQUEST_NULL;
    if (!once)
      must(tonari_vector_reverse_init(vector, &values, op, a.ghosts(), a.owned(),
                                      Info{{"tonari_channel", channel}, {"tonari_tune", tune}},
                                      &request));
    InTurn in_turn(a, once ? 3 : arrays, own);
    for (int k = 0; k < std::max({arrays, rounds, once ? 3 : 2}); ++k) {
      const int round = k % 20;
      if (arrays != 1) in_turn.next();
      a.for_owned([&](std::int64_t i, int c, int v, unsigned char* at) {
        store(at, before<T>(s.mine().first + i, c, v, round));
      });
      a.for_ghosts([&](std::int64_t k, int c, int v, unsigned char* at) {
        store(at, contribution<T>(static_cast<std::size_t>(world_rank()),
                                  static_cast<std::size_t>(k), c, v, round));
      });
      const std::vector<unsigned char> wanted = expected<T>(a, s, op, round);
      if (once)
        must(tonari_vector_reverse(vector, &values, op, a.ghosts(), a.owned()));
      else if (arrays > 1)
        run_with(request, a.ghosts(), a.owned(), (world_rank() + round) % 2 == 0);
      else
        run(request, (world_rank() + round) % 2 == 0);
      EXPECT_TRUE(a.memory == wanted)
          << "round " << round << "\n"
          << (request ? tonari_request_describe(request) : "one-shot call");
    }
    must(tonari_request_free(&request));
  }

 private:
  template <class T>
  static void store(unsigned char* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  template <class T>
  static std::vector<unsigned char> expected(Arrays a, const Sharing& s, MPI_Op op, int round) {
    for (int v = 0; v < a.vectors; ++v)
      for (int c = 0; c < a.components; ++c)
        for (std::size_t r = 0; r < s.needs.size(); ++r)
          for (std::size_t k = 0; k < s.needs[r].size(); ++k) {
            if (!s.owns(static_cast<std::size_t>(world_rank()), s.needs[r][k])) continue;
            unsigned char* const at = a.owned(s.needs[r][k] - s.mine().first, c, v);
            T value;
            std::memcpy(&value, at, sizeof value);
            store(at, combined(value, contribution<T>(r, k, c, v, round), op));
          }
    return a.memory;
  }
};

TEST_F(VectorReverse, RandomPatterns) {
  const int cases = crowded() ? 5 : 25;
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
  for (int k = 0; k < cases; ++k)
    for (const std::string& route : routes_of_case(k)) {
      Random common(static_cast<unsigned>(1000 + 100 * k + world_size()));
      const Split& split = splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)];
      Nodes::set(split.text);
      const Sharing s = draw_sharing(common, all_needs[k % 5], pick(common, 1, 60));
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route + ", nodes " + split.text);
      tonari_vector vector = make_vector(s, route);
      const std::string channel = random_channel(common);
      const MPI_Op op = ops[pick(common, 0, 2)];
      const int kind = pick(common, 0, 2), arrays = kind == 0 ? 0 : kind == 1 ? 1 : 3 + 9 * (k % 2);
      switch (pick(common, 0, 5)) {
        case 0:
          exchange<float>(vector, s, common, MPI_FLOAT, op, channel, arrays);
          break;
        case 1:
          exchange<std::int64_t>(vector, s, common, MPI_INT64_T, op, channel, arrays);
          break;
        case 2:
          exchange<std::complex<double>>(vector, s, common, MPI_C_DOUBLE_COMPLEX, MPI_SUM, channel,
                                         arrays);
          break;
        case 3:
          exchange<int>(vector, s, common, MPI_INT, op, channel, arrays);
          break;
        default:
          exchange<double>(vector, s, common, MPI_DOUBLE, op, channel, arrays);
      }
      must(tonari_vector_free(&vector));
    }
}

TEST_F(VectorReverse, RandomPatternsWhoseStartsChoose) {
  tune = "online", rounds = crowded() ? 12 : 80;
  for (int k = 0; k < (crowded() ? 5 : 10); ++k)
    for (const std::string& route : routes_of_case(k)) {
      const FreshWisdom wisdom("0.02");
      Random common(static_cast<unsigned>(11000 + 100 * k + world_size()));
      const Sharing s = draw_sharing(common, all_needs[k % 5], pick(common, 1, 60));
      SCOPED_TRACE("case " + std::to_string(k) + ", route " + route);
      tonari_vector vector = make_vector(s, route);
      exchange<double>(vector, s, common, MPI_DOUBLE, MPI_SUM, "auto", 1 + 2 * (k % 2));
      must(tonari_vector_free(&vector));
    }
}

TEST_F(VectorReverse, AllTypes) {
  if (world_size() > 3 || ranks_are_slow())
    GTEST_SKIP() << "how types add up does not depend on the number of ranks";
  Random common(3);
  const Sharing s = draw_sharing(common, Needs::random, 20);
  tonari_vector vector = make_vector(s, "direct");
  const auto all_ops = [&]<class T>(T, MPI_Datatype type) {
    for (const MPI_Op op : {MPI_SUM, MPI_MIN, MPI_MAX})
      exchange<T>(vector, s, common, type, op, "auto", 0);
  };
  all_ops(0.f, MPI_FLOAT);
  all_ops(0., MPI_DOUBLE);
  all_ops(0, MPI_INT);
  all_ops(0u, MPI_UNSIGNED);
  all_ops(0l, MPI_LONG);
  all_ops(0ul, MPI_UNSIGNED_LONG);
  all_ops(0ll, MPI_LONG_LONG);
  all_ops(std::int32_t{}, MPI_INT32_T);
  all_ops(std::uint32_t{}, MPI_UINT32_T);
  all_ops(std::int64_t{}, MPI_INT64_T);
  all_ops(std::uint64_t{}, MPI_UINT64_T);
  exchange<std::complex<float>>(vector, s, common, MPI_C_FLOAT_COMPLEX, MPI_SUM, "auto", 0);
  exchange<std::complex<double>>(vector, s, common, MPI_C_DOUBLE_COMPLEX, MPI_SUM, "auto", 0);
  // numbers of Fortran
  all_ops(0.f, MPI_REAL);
  all_ops(0., MPI_DOUBLE_PRECISION);
  all_ops(0., MPI_REAL8);
  all_ops(std::int32_t{}, MPI_INTEGER);
  all_ops(std::int64_t{}, MPI_INTEGER8);
  exchange<std::complex<float>>(vector, s, common, MPI_COMPLEX, MPI_SUM, "auto", 0);
  exchange<std::complex<double>>(vector, s, common, MPI_DOUBLE_COMPLEX, MPI_SUM, "auto", 0);
  must(tonari_vector_free(&vector));
}

// Sums of numbers that are rounded: in the order that the header promises on the direct route, and
// the same ones again on all.
TEST_F(VectorReverse, TheOrderOfAdditions) {
  Random common(5);
  const auto real = [](std::size_t rank, std::size_t k) {
    return 1e-3 * static_cast<double>(mix(rank * 10'007 + k) % 1'000'003) / 7;
  };
  for (const std::string& route : routes_of_case(0)) {
    const Sharing s = draw_sharing(common, Needs::random, 12);
    const auto me = static_cast<std::size_t>(world_rank());
    std::vector<double> ghosts(s.my_needs().size()), zero(static_cast<std::size_t>(s.mine().count)),
        sums[3];
    for (std::size_t k = 0; k < ghosts.size(); ++k) ghosts[k] = real(me, k);
    tonari_vector vector = make_vector(s, route);
    for (int time = 0; time < 3; ++time) {
      sums[time] = zero;
      if (time == 2) {  // persistent
        tonari_request request = TONARI_REQUEST_NULL;
        must(tonari_vector_reverse_init(vector, nullptr, MPI_SUM, ghosts.data(), sums[time].data(),
                                        Info{{"tonari_tune", "off"}}, &request));
        run(request, true);
        must(tonari_request_free(&request));
      } else
        must(tonari_vector_reverse(vector, nullptr, MPI_SUM, ghosts.data(), sums[time].data()));
    }
    EXPECT_EQ(sums[0], sums[1]) << route;
    EXPECT_EQ(sums[0], sums[2]) << route;
    if (route == "direct") {
      std::vector<double> wanted = zero;
      for (std::size_t k = 0; k < ghosts.size(); ++k)
        if (s.owns(me, s.my_needs()[k]))
          wanted[static_cast<std::size_t>(s.my_needs()[k] - s.mine().first)] += ghosts[k];
      for (std::size_t r = 0; r < s.needs.size(); ++r)
        for (std::int64_t i = 0; r != me && i < s.mine().count; ++i) {
          double sum = 0;
          bool any = false;
          for (std::size_t k = 0; k < s.needs[r].size(); ++k)
            if (s.needs[r][k] == s.mine().first + i)
              sum = any ? sum + real(r, k) : real(r, k), any = true;
          if (any) wanted[static_cast<std::size_t>(i)] += sum;
        }
      EXPECT_EQ(sums[0], wanted);
    }
    must(tonari_vector_free(&vector));
  }
}

}  // namespace
