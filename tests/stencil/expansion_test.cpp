// SPDX-License-Identifier: BSD-3-Clause
// Ghost cell expansion: steps without exchange give what steps with an exchange each give.
#include <set>

#include "stencil/subdomain.hpp"

namespace tonari {
namespace {

using namespace test;

// The ghosts of a subdomain that is its own neighbor in some dimensions.
template <int D, class Field>
void exchange(Field& field, const std::array<bool, D>& periodic, const Cell<D>& own,
              const tonari_box& all) {
  over_cells<D>(all, [&](const Cell<D>& x) {
    Cell<D> from = x;
    for (std::size_t i = 0; i < D; ++i)
      if (periodic[i]) from[i] = (x[i] + 10 * own[i]) % own[i];
    if (from != x) field(x) = field(from);
  });
}

template <int D, class S>
void step(S, const Expansion& expansion, int s, ArrayField<double, D>& in,
          ArrayField<double, D>& out) {
  std::array<double, S::coefficients()> c;
  for (int i = 0; i < S::coefficients(); ++i) c[static_cast<std::size_t>(i)] = 0.3 / (i + 1);
  apply(S{}, c, in.layout, in.data.data(), out.data.data(), expansion.box(s));
}

template <int D, class S, int... E>
void step(S, const Expansion& expansion, int s, BrickField<double, E...>& in,
          BrickField<double, E...>& out) {
  std::array<double, S::coefficients()> c;
  for (int i = 0; i < S::coefficients(); ++i) c[static_cast<std::size_t>(i)] = 0.3 / (i + 1);
  apply(S{}, c, bricks<E...>(in.table), in.base(), out.base(),
        bricks_in(in.table, expansion.box(s)), expansion.box(s));
}

// `steps` steps with an exchange every `every` of them.
template <int D, class S, class Field>
void run(S stencil, const Expansion& expansion, Field& field, Field& other, int steps, int every,
         const std::array<bool, D>& periodic, const Cell<D>& own, const tonari_box& all) {
  for (int t = 0; t < steps; ++t) {
    if (t % every == 0) exchange<D>(t % 2 ? other : field, periodic, own, all);
    step<D>(stencil, expansion, expansion.steps() - every + t % every, t % 2 ? other : field,
            t % 2 ? field : other);
  }
}

template <class S, int... E>
void steps_agree(std::array<bool, S::dims> periodic, int expected_steps) {
  constexpr int D = S::dims;
  const std::array<std::int64_t, D> extents{E...};
  std::mt19937 random(5);
  Extents brick{}, width{}, bricks_own{}, ghosts{};
  Cell<D> own{};
  tonari_box all{};
  std::uint32_t exchanged = 0;
  for (std::size_t i = 0; i < D; ++i) {
    brick[i] = width[i] = extents[i], bricks_own[i] = 2, ghosts[i] = 1;
    own[i] = 2 * extents[i];
    all.first[i] = -width[i], all.end[i] = own[i] + width[i];
    if (periodic[i]) exchanged |= 3U << (2 * i);
  }
  const BrickTable table(D, brick, ghosts, bricks_own, ghosts, &random);
  Extents own_cells{};
  std::copy(own.begin(), own.end(), own_cells.begin());
  const tonari_array array = packed_array(D, width, own_cells, width);
  const Expansion expansion(array, S::radius, exchanged), on_bricks(*table, S::radius, exchanged);
  ASSERT_EQ(expansion.steps(), expected_steps);
  ASSERT_EQ(on_bricks.steps(), expected_steps);

  ArrayField<double, D> each(array), each_other(array), expanded(array), expanded_other(array);
  BrickField<double, E...> stored(table), stored_other(table);
  std::uniform_real_distribution<double> real(-1, 1);
  // sides without neighbors: fixed values that both copies hold
  over_cells<D>(all, [&](const Cell<D>& x) {
    each(x) = each_other(x) = expanded(x) = expanded_other(x) = stored(x) = stored_other(x) =
        inside<D>(x, expansion.box(expected_steps - 1)) ? real(random) : 0.25;
  });
  const int steps = 2 * expected_steps;  // even: results are in the first field again
  run<D>(S{}, expansion, each, each_other, steps, 1, periodic, own, all);
  run<D>(S{}, expansion, expanded, expanded_other, steps, expected_steps, periodic, own, all);
  run<D>(S{}, on_bricks, stored, stored_other, steps, expected_steps, periodic, own, all);
  over_cells<D>(expansion.box(expected_steps - 1), [&](const Cell<D>& x) {
    ASSERT_EQ(each(x), expanded(x));
    ASSERT_EQ(each(x), stored(x));
  });
}

TEST(Expansions, StepsWithoutExchangeGiveTheSame) {
  steps_agree<Star<2, 1>, 4, 8>({true, true}, 4);
  steps_agree<Star<2, 1>, 4, 8>({true, false}, 4);
  steps_agree<Star<3, 3>, 8, 8, 8>({true, true, true}, 2);  // 8 is no multiple of 3
  steps_agree<BoxStencil<3, 2>, 8, 4, 8>({false, true, true}, 2);
}

TEST(Expansions, ComputeWhatLaterStepsNeed) {
  const std::array<std::int64_t, 2> own{20, 30}, lower{8, 0}, upper{6, 9};
  const Expansion expansion(own, lower, upper, 2);
  EXPECT_EQ(expansion.steps(), 3);
  const auto ends = [&](int s) {
    const tonari_box box = expansion.box(s);
    return std::array<std::int64_t, 4>{box.first[0], box.end[0], box.first[1], box.end[1]};
  };
  EXPECT_EQ(ends(0), (std::array<std::int64_t, 4>{-4, 24, 0, 34}));
  EXPECT_EQ(ends(1), (std::array<std::int64_t, 4>{-2, 22, 0, 32}));
  EXPECT_EQ(ends(2), (std::array<std::int64_t, 4>{0, 20, 0, 30}));
  EXPECT_THROW(expansion.box(3), std::invalid_argument);
  EXPECT_THROW(Expansion(own, lower, upper, 7), std::invalid_argument);  // wider than the halo of 6
  EXPECT_THROW(Expansion(own, lower, upper, 0), std::invalid_argument);
  const std::array<std::int64_t, 2> none{};
  EXPECT_EQ(Expansion(own, none, none, 2).steps(), std::numeric_limits<int>::max());
}

TEST(Expansions, FindTheBricksOfABox) {
  std::mt19937 random(6);
  const BrickTable table(3, {4, 2, 3}, {1, 2, 1}, {3, 2, 4}, {2, 1, 1}, &random);
  for (int round = 0; round < 200; ++round) {
    tonari_box box{};
    for (std::size_t i = 0; i < 3; ++i)
      box.first[i] = between(random, -14, 20), box.end[i] = between(random, -14, 30);
    std::set<std::vector<std::int64_t>> expected;  // positions, hence lexicographic
    for (std::int64_t b = 0; b < table->count; ++b) {
      std::vector<std::int64_t> x;
      bool touches = true;
      for (int i = 0; i < 3; ++i) {
        x.push_back(table->position[3 * b + i]);
        touches = touches && std::max(box.first[i], x.back() * table->brick[i]) <
                                 std::min(box.end[i], (x.back() + 1) * table->brick[i]);
      }
      if (touches) expected.insert(x);
    }
    std::vector<std::vector<std::int64_t>> found;
    for (std::int32_t b : bricks_in(*table, box))
      found.push_back(
          {table->position[3 * b], table->position[3 * b + 1], table->position[3 * b + 2]});
    EXPECT_EQ(found, std::vector(expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace tonari
