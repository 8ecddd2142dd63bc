#include "planners/registry.hpp"

#include <gtest/gtest.h>

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

TEST(Registry, ListsNamesByWhatTheyApplyTo) {
  EXPECT_EQ(algorithm_names(AppliesTo::offsets),
            (std::vector<std::string>{"linear", "torus", "torus-direct", "additive-basis",
                                      "joint-basis"}));
  EXPECT_EQ(
      algorithm_names(AppliesTo::graphs),
      (std::vector<std::string>{"linear", "coloring", "tree", "node-aware", "common-neighborhood",
                                "store-and-forward", "message-sharing", "balanced"}));
  EXPECT_EQ(algorithm_names(AppliesTo::in_place),
            (std::vector<std::string>{"mpich-order", "linear-shift", "hierarchical-sets"}));
}

TEST(Registry, FindsEveryRowByItsName) {
  for (AppliesTo what : {AppliesTo::offsets, AppliesTo::graphs, AppliesTo::in_place})
    for (const std::string& name : algorithm_names(what))
      EXPECT_EQ(find_algorithm(name, what).name, name);
  EXPECT_EQ(&find_offset_planner("torus"), &offset_torus);
  EXPECT_EQ(&find_graph_planner("linear"), &graph_linear);
}

TEST(Registry, AnUnknownNameListsTheKnownOnesAndTheNearest) {
  const Error e = test::error_of([] { find_offset_planner("torus-indirect"); });
  EXPECT_EQ(e.code(), Errc::algorithm);
  EXPECT_STREQ(e.what(),
               "there is no algorithm 'torus-indirect'; choose one of linear, torus, torus-direct, "
               "additive-basis, joint-basis; did you mean torus-direct?");
  EXPECT_EQ(test::error_of([] { find_offset_planner(""); }).code(), Errc::algorithm);
  EXPECT_STREQ(test::error_of([] { find_graph_planner("torus"); }).what(),
               "there is no algorithm 'torus' for graphs; choose one of linear, coloring, tree, "
               "node-aware, common-neighborhood, store-and-forward, message-sharing, balanced");
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
