// SPDX-License-Identifier: BSD-3-Clause
// Files that are no schedule for the neighborhood are refused, with the same sentence on all ranks.
#include <unistd.h>

#include "support/graph_exchange.hpp"
#include "support/same_error.hpp"
#include "support/schedule_files.hpp"

namespace {

using namespace tonari::test;
using tonari::CommunicationMatrix;

class ScheduleErrors : public testing::Test {
 protected:
  ScheduleErrors() : graph(make_graph(world_size(), all_pairs(world_size()))) {}

  int open(MPI_Info info) {
    return create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())], info,
                           &near);
  }
  void refuses(const std::string& file, int code, std::initializer_list<std::string> words) {
    expect_everywhere(open(Info{{"tonari_schedule", file}}), code, words);
    EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  }
  void takes(const std::string& file) {
    ASSERT_OK(open(Info{{"tonari_schedule", file}}));
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  std::string text() const {
    const CommunicationMatrix matrix = matrix_of(graph);
    return schedule_text(matrix, over_the_next_rank(matrix));
  }

  Graph graph;
  ScheduleFolder folder;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(ScheduleErrors, WhatIsNoScheduleIsRefused) {
  refuses(folder.path() + "/none", TONARI_ERR_FILE,
          {"the schedule '" + folder.path() + "/none' cannot be used", "it cannot be opened"});
  refuses(folder.path(), TONARI_ERR_FILE, {"it is no regular file"});
  refuses(folder.write(""), TONARI_ERR_FILE, {"line 1: the file ends here"});
  refuses(folder.write("%%MatrixMarket matrix coordinate integer general\n"), TONARI_ERR_FILE,
          {"line 1: the first line must be 'tonari schedule 1'"});
  refuses(folder.write("tonari schedule 1\nranks 77\n"), TONARI_ERR_FILE,
          {"it is for 77 ranks, and the neighborhood has " + std::to_string(world_size())});
  const std::string enormous = folder.write(text());
  if (world_rank() == 0) std::filesystem::resize_file(enormous, std::uintmax_t{1} << 40);
  MPI_Barrier(MPI_COMM_WORLD);
  refuses(enormous, TONARI_ERR_FILE, {"it has 1099511627776 bytes or more"});
  takes(folder.write(text()));
}

// Cut off in a line all ranks see it; between lines those that miss a block do.
TEST_F(ScheduleErrors, WhatIsCutOffIsRefused) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has nothing to send";
  const std::string all = text();
  Random common(71);
  for (int k = cases(12); k > 0; --k) {
    const std::size_t bytes = static_cast<std::size_t>(pick(common, 40, 10000)) % all.size();
    refuses(folder.write(all.substr(0, bytes)), TONARI_ERR_FILE, {"cannot be used: "});
  }
}

TEST_F(ScheduleErrors, WhatDoesNotFitThePatternIsRefused) {
  if (world_size() < 3) GTEST_SKIP() << "three ranks are the least that pass something on";
  const CommunicationMatrix matrix = matrix_of(graph);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = schedule_text(matrix, direct_schedule(matrix));
    return other.replace(other.find(from), from.size(), to);
  };
  takes(folder.write(with("0 0 1: 0-1\n", "0 0 1: 0-1\n")));
  refuses(folder.write(with("0 0 1: 0-1\n", "")), TONARI_ERR_FILE,
          {"block 0-1 does not leave rank 0"});
  refuses(folder.write(with("0 1 2: 1-2\n", "0 1 2: 0-1 1-2\n")), TONARI_ERR_FILE,
          {"line ", "leaves its target again"});
  refuses(folder.write(with("0 0 1: 0-1\n", "0 0 1: 0-1 0-2\n")), TONARI_ERR_FILE,
          {"block 0-2 leaves rank 0 twice, for rank 2 in stage 0 again"});
  // a circle: it is passed on in the stage in which it comes
  refuses(folder.write(with("0 0 1: 0-1\n0 0 2: 0-2\n", "0 0 1: 0-1 0-2\n")), TONARI_ERR_FILE,
          {"block 0-2 does not leave rank 1"});
  graph = make_graph(world_size(), star(world_size(), 0, true));
  refuses(folder.write(schedule_text(matrix, direct_schedule(matrix))), TONARI_ERR_FILE,
          {"is not of the pattern"});
}

// Each rank reads its own copy, by the same name.
TEST_F(ScheduleErrors, RanksMustHaveTheSameFile) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::string mine = folder.path() + "/" + std::to_string(world_rank());
  std::filesystem::create_directory(mine);
  ASSERT_EQ(chdir(mine.c_str()), 0);
  std::ofstream("s.txt") << text();
  takes("s.txt");
  if (world_size() > 1) {
    const bool last = world_rank() == world_size() - 1;
    std::ofstream("s.txt") << text() << (last ? "# another one\n" : "");
    refuses("s.txt", TONARI_ERR_MISMATCH,
            {"the schedule 's.txt' (tonari_schedule) is another file on rank " +
             std::to_string(world_size() - 1) + " than on rank 0"});
    if (last) std::filesystem::remove("s.txt");
    std::ofstream(last ? "none" : "s.txt") << text();
    refuses("s.txt", TONARI_ERR_FILE,
            {"rank " + std::to_string(world_size() - 1) + ": ", "it cannot be opened"});
  }
  ASSERT_EQ(chdir(before.c_str()), 0);
}

TEST_F(ScheduleErrors, RanksMustNameTheSameFile) {
  if (world_size() == 1) GTEST_SKIP() << "one rank always agrees";
  const std::string file = folder.write(text()), other = folder.write(text());
  refuses(world_rank() == 0 ? file : other, TONARI_ERR_MISMATCH,
          {"tonari_schedule is '" + file + "' on rank 0 and '" + other + "' on rank 1"});
  expect_everywhere(world_rank() == 0 ? open(Info{{"tonari_schedule", file}}) : open(MPI_INFO_NULL),
                    TONARI_ERR_MISMATCH,
                    {"tonari_schedule is '" + file + "' on rank 0 and not set"});
}

TEST_F(ScheduleErrors, AScheduleAndAnAlgorithmAreTwoWishes) {
  const std::string file = folder.write(text());
  expect_everywhere(open(Info{{"tonari_schedule", file}, {"tonari_algorithm", "linear"}}),
                    TONARI_ERR_ALGORITHM,
                    {"tonari_algorithm (TONARI_ALGORITHM) is 'linear', but tonari_schedule says "
                     "that all exchanges follow the schedule '" +
                     file + "'; give the neighborhood one of the two"});
  // It is no algorithm where there is no file.
  expect_everywhere(open(Info{{"tonari_algorithm", "schedule"}}), TONARI_ERR_ALGORITHM,
                    {"tonari_algorithm (TONARI_ALGORITHM) is 'schedule'; it must be one of auto"});
}

// It would be ignored there.
TEST_F(ScheduleErrors, OnlyNeighborhoodsAreMadeToFollowASchedule) {
  const std::string file = folder.write(text()), other = folder.write(text());
  std::vector<int> out(static_cast<std::size_t>(world_size())), in(out);
  tonari_request request = TONARI_REQUEST_NULL;
  const auto init = [&](const std::string& name) {
    return tonari_alltoall_init(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, near,
                                Info{{"tonari_schedule", name}}, &request);
  };
  const Info follow{{"tonari_schedule", file}};
  for (const bool follows : {false, true}) {
    ASSERT_OK(open(follows ? MPI_Info(follow) : MPI_INFO_NULL));
    expect_everywhere(init(other), TONARI_ERR_ARGUMENT,
                      {"tonari_schedule is '" + other + "' here, but only a neighborhood is made"});
    if (follows) {
      EXPECT_OK(init(file));
      EXPECT_OK(tonari_request_free(&request));
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

TEST_F(ScheduleErrors, PromisesHoldForSchedules) {
  if (world_size() < 4) GTEST_SKIP() << "on three ranks all others are neighbors";
  // Every rank sends to the one before it, over the next one, which is no neighbor.
  Edges edges;
  for (int r = 0; r < world_size(); ++r)
    edges.emplace_back(r, (r + world_size() - 1) % world_size());
  graph = make_graph(world_size(), edges);
  const CommunicationMatrix matrix = matrix_of(graph);
  const std::string file = folder.write(matrix, over_the_next_rank(matrix));
  ASSERT_OK(open(Info{{"tonari_schedule", file}, {"cdag_strict_communication", "true"}}));
  int out = world_rank(), in = -1;
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(
      tonari_alltoall_init(&out, 1, MPI_INT, &in, 1, MPI_INT, near, MPI_INFO_NULL, &request),
      TONARI_ERR_ALGORITHM, {"algorithm 'schedule' cannot be used here", "no neighbors"});
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
