// SPDX-License-Identifier: BSD-3-Clause
// Objects of families on a communicator: each is found by its type, and those that do not stay go
// when the program leaves, wherever they are in the list.
#include "engine/comm/family_objects.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

template <int family, bool staying>
struct Counted final : FamilyObject {
  explicit Counted(int& count) : living(count) { ++living; }
  ~Counted() override { --living; }
  bool stays() const override { return staying; }
  int& living;
};
using First = Counted<0, false>;
using Second = Counted<1, true>;
using Third = Counted<2, false>;

TEST(FamilyObjects, AreFoundByTypeAndLeave) {
  int first = 0, second = 0, third = 0;
  {
    FamilyObjects objects;
    EXPECT_EQ(objects.find<First>(), nullptr);
    for (int round = 0; round < 2; ++round) {
      First& one = objects.add(std::make_unique<First>(first));
      if (round == 0) objects.add(std::make_unique<Second>(second));
      objects.add(std::make_unique<Third>(third));
      EXPECT_EQ(objects.find<First>(), &one);
      EXPECT_EQ(&objects.find<Second>()->living, &second);
      EXPECT_EQ(&objects.find<Third>()->living, &third);
      objects.leave();
      EXPECT_EQ(first + third, 0) << "they do not stay";
      EXPECT_EQ(second, 1);
      EXPECT_EQ(objects.find<First>(), nullptr);
      EXPECT_EQ(&objects.find<Second>()->living, &second);
    }
  }
  EXPECT_EQ(second, 0);
}

}  // namespace
}  // namespace tonari
