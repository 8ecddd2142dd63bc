// SPDX-License-Identifier: BSD-3-Clause
// Stars and lists of points on arrays and bricks: against sums over points, and against each other
// bit for bit. Errors.
#include "stencil/case.hpp"

namespace tonari {
namespace {

using namespace test;

using Upwind = Points<3, 0, 0, 0, 0, 0, -2, 0, -1, 1, 1, 2, -1, -2, 0, 0>;

template <class C>
struct Stars : testing::Test {};
using StarsCases =
    testing::Types<Case<double, Star<1, 3>, 8>, Case<double, Star<2, 2>, 16, 16>,
                   Case<float, StarByDimension<2, 3>, 3, 6>, Case<double, Star<3, 1>, 8, 8, 8>,
                   Case<float, Star<3, 1>, 4, 4, 8>, Case<double, Star<3, 4>, 4, 4, 4>,
                   Case<double, Upwind, 2, 4, 12>, Case<float, Star<5, 2>, 2, 2, 2, 2, 2>>;
TYPED_TEST_SUITE(Stars, StarsCases);

TYPED_TEST(Stars, AreSumsOverPoints) { TypeParam::compare_rounds(true, 11); }
TYPED_TEST(Stars, GiveEqualBitsOnAllStorages) { TypeParam::compare_rounds(false, 12); }

TEST(StencilShapes, CoefficientsOfBoxes) {
  EXPECT_EQ((box<3, 2>().coefficients()), 10);
  EXPECT_EQ((box<3, 1>().coefficients()), 4);
  EXPECT_EQ((box<5, 2>().coefficients()), 21);
  EXPECT_EQ((star<3, 4>().coefficients()), 5);
  EXPECT_EQ((star_by_dimension<3, 2>().coefficients()), 7);
  EXPECT_EQ((points<2, 0, 0, 1, -3>().coefficients()), 2);
  EXPECT_EQ((points<2, 0, 0, 1, -3>().radius), 3);
}

TEST(StencilErrors, SayWhatToChange) {
  const tonari_array array = packed_array(2, {1, 1}, {4, 4}, {1, 1});
  std::vector<double> in(36), out(36);
  const auto sentence = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(sentence([&] {
              apply(star<2, 2>(), {1, 1, 1}, array, in.data(), out.data(), {{0, 0}, {4, 4}});
            }),
            "tonari::apply: cells 0 to 3 along dimension 0 with a stencil of radius 2 reach out of "
            "the array, which has cells -1 to 4; make the box smaller or the halo wider");
  EXPECT_EQ(sentence([&] {
              apply(star<3, 1>(), {1, 1}, array, in.data(), out.data(), {{0, 0}, {4, 4}});
            }),
            "tonari::apply: a stencil of 3 dimensions on an array of 2");
  const BrickTable table(2, {4, 4}, {1, 1}, {1, 1}, {1, 1});
  EXPECT_EQ(sentence([&] { bricks<4, 8>(*table); }),
            "tonari::bricks<4, 8>: the table has bricks of 4, 4 cells");
  // no cells, no reach
  EXPECT_EQ(sentence([&] {
              apply(star<2, 2>(), {1, 1, 1}, array, in.data(), out.data(), {{3, 0}, {3, 4}});
            }),
            "");
}

}  // namespace
}  // namespace tonari
