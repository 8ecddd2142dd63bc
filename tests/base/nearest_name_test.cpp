// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tonari {
namespace {

const std::vector<std::string> names{"linear", "torus", "torus-direct", "tonari_algorithm"};

TEST(NearestName, OneCharacterOrAQuarterMayDiffer) {
  for (const char* name : {"torsu", "torus", "toru", "toruss", "tores", "otrus"})
    EXPECT_EQ(nearest_name(name, names), "torus") << name;
  for (const char* name : {"torus-dirct", "tours-dierct", "tourus-dircet"})
    EXPECT_EQ(nearest_name(name, names), "torus-direct") << name;
  for (const char* name : {"", "t", "tree", "rotsu", "linearity-direct"})
    EXPECT_EQ(nearest_name(name, names), "") << name;
  EXPECT_EQ(nearest_name("torus", {}), "");
}

TEST(NearestName, APrefixIsNoPartOfTheName) {
  EXPECT_EQ(nearest_name("tonari_algoritm", names), "tonari_algorithm");
  EXPECT_EQ(nearest_name("tonari_alogritmh", names), "tonari_algorithm");
  EXPECT_EQ(nearest_name("tonari_a", names), "");
}

TEST(NearestName, SentencesEndWithIt) {
  EXPECT_EQ(did_you_mean("linaer", names), "; did you mean linear?");
  EXPECT_EQ(did_you_mean("quantum", names), "");
}

}  // namespace
}  // namespace tonari
