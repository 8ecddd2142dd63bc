// SPDX-License-Identifier: BSD-3-Clause
// Plans as text, compared with files in tests/goldens whose names carry the rank count. To see what
// a change does to them:
//   TONARI_UPDATE_GOLDENS=1 build/tests/core_tests --gtest_filter='*Golden*'; git diff
//                           tests/goldens
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analysis/patterns.hpp"
#include "analysis/printer.hpp"
#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

struct Golden {
  std::string file;  // without .txt
  std::string pattern, algorithm;
  Grid grid;
  std::vector<int> ranks;
  std::vector<int> ports;
  friend std::ostream& operator<<(std::ostream& out, const Golden& golden) {
    return out << golden.file;
  }
};

std::string place(const Grid& grid, int rank) {
  std::ostringstream out;
  const Vec at = grid.coordinates(rank);
  for (int j = 0; j < grid.dimensions(); ++j) out << (j ? "," : "(") << at[j];
  out << ')';
  return out.str();
}

void section(std::ostream& out, const OffsetVariant& schedule, int rank, int ports) {
  const Grid& grid = schedule.near().grid;
  PrintOptions options;
  options.peer = [&](int peer) { return place(grid, peer); };
  options.most_blocks = 100;
  out << "== " << name(schedule.collective()) << ", rank " << place(grid, rank);
  if (ports > 0) out << ", ports " << ports;
  out << '\n' << print(schedule.plan(rank, {Storage::separate, ports}), options);
}

std::string text_of(const Golden& golden) {
  const Neighborhood near{golden.grid, parse_pattern(golden.pattern).offsets};
  std::ostringstream out;
  out << golden.pattern << ", " << golden.algorithm << ", grid "
      << test::describe({golden.grid, {}}) << " (m: not periodic)\n";
  for (std::size_t i = 0; i < near.offsets.size(); ++i) {
    out << (i ? " " : "offsets ") << i << ":(";
    for (int j = 0; j < golden.grid.dimensions(); ++j) out << (j ? "," : "") << near.offsets[i][j];
    out << ')';
  }
  out << '\n';
  for (Collective collective : {Collective::alltoall, Collective::allgather}) {
    const OffsetVariant schedule = test::first_schedule(golden.algorithm, near, collective);
    out << '\n'
        << name(collective) << ": " << schedule.rounds() << " rounds, volume " << schedule.volume()
        << '\n';
    for (int ports : golden.ports)
      for (int rank : golden.ranks) section(out, schedule, rank, ports);
  }
  return out.str();
}

std::vector<Golden> goldens() {
  return {
      {"moore-2-1.torus.torus-3x3.9-ranks", "moore:2:1", "torus", test::torus({3, 3}), {0, 4}, {0}},
      {"moore-2-1.torus.mesh-3x3.9-ranks", "moore:2:1", "torus", test::mesh({3, 3}), {0, 4}, {0}},
      {"moore-2-1.linear.mesh-3x3.9-ranks", "moore:2:1", "linear", test::mesh({3, 3}), {0, 4}, {0}},
      {"octant-3.torus-direct.torus-3x3x3.27-ranks",
       "octant:3",
       "torus-direct",
       test::torus({3, 3, 3}),
       {0},
       {0}},
      {"star-3-1.joint-basis.torus-4x4x4.64-ranks",
       "star:3:1",
       "joint-basis",
       test::torus({4, 4, 4}),
       {0},
       {0}},
      {"moore-1-3.additive-basis.torus-16.16-ranks",
       "moore:1:3",
       "additive-basis",
       test::torus({16}),
       {0},
       {0, 1}},
      {"moore-1-3.additive-basis.mesh-16.16-ranks",
       "moore:1:3",
       "additive-basis",
       test::mesh({16}),
       {0, 8},
       {0, 1}},
  };
}

class GoldenPlans : public testing::TestWithParam<std::size_t> {};

TEST_P(GoldenPlans, PrintAsTheyDid) {
  const Golden golden = goldens()[GetParam()];
  const std::string path = std::string(TONARI_GOLDENS) + "/" + golden.file + ".txt",
                    text = text_of(golden);
  if (std::getenv("TONARI_UPDATE_GOLDENS")) {
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing; TONARI_UPDATE_GOLDENS=1 writes it";
  std::stringstream remembered;
  remembered << in.rdbuf();
  EXPECT_EQ(text, remembered.str()) << path;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPlans, testing::Range<std::size_t>(0, goldens().size()));

}  // namespace
}  // namespace tonari
