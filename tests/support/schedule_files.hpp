// SPDX-License-Identifier: BSD-3-Clause
// Files of schedules for graphs that all ranks know, in a folder that all ranks share.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_schedule.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "support/graph_oracle.hpp"

namespace tonari::test {

inline CommunicationMatrix matrix_of(const Graph& graph) {
  std::vector<Flow> flows;
  const int ranks = static_cast<int>(graph.of.size());
  for (int r = 0; r < ranks; ++r)
    for (const int target : graph.of[static_cast<std::size_t>(r)].targets)
      if (target >= 0) flows.push_back({r, target, 1});
  return CommunicationMatrix(ranks, flows);
}

inline std::vector<MessageSchedule> some_schedules(const CommunicationMatrix& matrix) {
  std::vector<MessageSchedule> all{direct_schedule(matrix), balanced(matrix, {2}),
                                   balanced(matrix, {3})};
  if (matrix.ranks() >= 4) all.push_back(store_and_forward(matrix, 2));
  return all;
}

// Every block goes over the next rank, if that is not its target.
inline MessageSchedule over_the_next_rank(const CommunicationMatrix& matrix) {
  std::vector<BlockHop> hops;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    const std::int32_t from = matrix.origin(b), to = matrix.target(b),
                       next = (from + 1) % matrix.ranks();
    if (next != to) hops.push_back({0, from, next, b});
    hops.push_back({1, next != to ? next : from, to, b});
  }
  return {matrix, std::move(hops)};
}

class ScheduleFolder {
 public:
  ScheduleFolder() {  // collective
    char name[200] = "";
    if (world_rank() == 0) {
      const std::string pattern =
          (std::filesystem::temp_directory_path() / "tonari-schedules-XXXXXX").string();
      EXPECT_LT(pattern.size(), sizeof name);
      pattern.copy(name, sizeof name - 1);
      EXPECT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name;
  }
  ~ScheduleFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::filesystem::remove_all(path_);
  }
  ScheduleFolder(const ScheduleFolder&) = delete;
  ScheduleFolder& operator=(const ScheduleFolder&) = delete;

  std::string path() const { return path_; }
  // Collective. Each has a name of its own.
  std::string write(const std::string& text) {
    const std::string file = path_ + "/" + std::to_string(++files_) + ".txt";
    if (world_rank() == 0) std::ofstream(file, std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
    return file;
  }
  std::string write(const CommunicationMatrix& matrix, const MessageSchedule& schedule) {
    return write(schedule_text(matrix, schedule));
  }

 private:
  std::string path_;
  int files_ = 0;
};

}  // namespace tonari::test
