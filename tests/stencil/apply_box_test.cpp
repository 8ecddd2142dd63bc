// SPDX-License-Identifier: BSD-3-Clause
// Boxes on arrays and bricks, as apply_test.cpp.
#include "stencil/case.hpp"

namespace tonari {
namespace {

using namespace test;

template <class C>
struct Boxes : testing::Test {};
using BoxesCases =
    testing::Types<Case<float, BoxStencil<1, 2>, 5>, Case<double, BoxStencil<2, 2>, 4, 32>,
                   Case<double, BoxStencil<3, 2>, 8, 8, 8>, Case<double, BoxStencil<3, 2>, 4, 4, 4>,
                   Case<float, BoxStencil<3, 1>, 2, 4, 8>,
                   Case<double, BoxStencil<4, 2>, 2, 2, 3, 4>,
                   Case<double, BoxStencil<5, 1>, 1, 2, 2, 1, 4>>;
TYPED_TEST_SUITE(Boxes, BoxesCases);

TYPED_TEST(Boxes, AreSumsOverPoints) { TypeParam::compare_rounds(true, 11); }
TYPED_TEST(Boxes, GiveEqualBitsOnAllStorages) { TypeParam::compare_rounds(false, 12); }

}  // namespace
}  // namespace tonari
