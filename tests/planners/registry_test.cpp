// SPDX-License-Identifier: BSD-3-Clause
#include "planners/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/errors.hpp"

namespace tonari {
namespace {

TEST(Registry, EveryAlgorithmIsListedOnceWithALineAndAPlanner) {
  std::set<std::string> names;
  for (const AlgorithmRow& row : algorithms()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(std::string(row.summary).empty()) << row.name;
    EXPECT_TRUE(row.offsets || row.graphs || row.in_place) << row.name;
    if (row.offsets) {
      EXPECT_STREQ(row.offsets->name, row.name);
    }
    if (row.graphs) {
      EXPECT_STREQ(row.graphs->name, row.name);
    }
  }
}

// Programs may ask for these; more may come.
TEST(Registry, KeepsTheNamesThatAreDocumented) {
  const auto expect_among = [](AppliesTo what, std::vector<std::string> documented) {
    const std::vector<std::string> names = algorithm_names(what);
    for (const std::string& name : documented)
      EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
    EXPECT_EQ(names.front(), documented.front());
  };
  expect_among(AppliesTo::offsets,
               {"linear", "torus", "torus-direct", "additive-basis", "joint-basis"});
  expect_among(AppliesTo::graphs,
               {"linear", "coloring", "tree", "node-aware", "common-neighborhood",
                "store-and-forward", "message-sharing", "balanced"});
  expect_among(AppliesTo::in_place, {"mpich-order", "linear-shift", "hierarchical-sets"});
}

TEST(Registry, FindsEveryRowByItsName) {
  for (AppliesTo what : {AppliesTo::offsets, AppliesTo::graphs, AppliesTo::in_place})
    for (const std::string& name : algorithm_names(what))
      EXPECT_EQ(find_algorithm(name, what).name, name);
  EXPECT_EQ(&find_offset_planner("torus"), &offset_torus);
  EXPECT_EQ(&find_graph_planner("linear"), &graph_linear);
}

std::string listed(AppliesTo what) {
  std::string list;
  for (const std::string& name : algorithm_names(what)) list += (list.empty() ? "" : ", ") + name;
  return list;
}

TEST(Registry, AnUnknownNameListsTheKnownOnesAndTheNearest) {
  const Error e = test::error_of([] { find_offset_planner("torus-indirect"); });
  EXPECT_EQ(e.code(), Errc::algorithm);
  EXPECT_EQ(std::string(e.what()), "there is no algorithm 'torus-indirect'; choose one of " +
                                       listed(AppliesTo::offsets) + "; did you mean torus-direct?");
  EXPECT_EQ(test::error_of([] { find_offset_planner(""); }).code(), Errc::algorithm);
  EXPECT_EQ(std::string(test::error_of([] { find_graph_planner("torus"); }).what()),
            "there is no algorithm 'torus' for graphs; choose one of " + listed(AppliesTo::graphs));
}

TEST(Registry, EarlierNamesAreThoseOfToday) {
  EXPECT_EQ(&find_graph_planner("colouring"), &graph_coloring);
  EXPECT_EQ(&find_graph_planner("common-neighbourhood"), &graph_common_neighborhood);
  EXPECT_EQ(current_name("colouring"), "coloring");
  EXPECT_EQ(current_name("colouring/order/p2p-packed"), "coloring/order/p2p-packed");
  EXPECT_EQ(current_name("common-neighbourhood/pairs"), "common-neighborhood/pairs");
  for (const char* earlier : {"store-and-forward/dims2", "forward-2", "topology:2"}) {
    EXPECT_EQ(current_name(earlier), "store-and-forward/2");
    EXPECT_EQ(current_name(std::string(earlier) + "/shared"), "store-and-forward/2/shared");
  }
  for (const char* same :
       {"store-and-forward/2", "forward-", "forward-2x", "topology", "topology:", "topology:-1",
        "topology:2x", "coloring", "colourings", "auto", "native", "", "balanced/both ends"})
    EXPECT_EQ(current_name(same), same);
}

}  // namespace
}  // namespace tonari
