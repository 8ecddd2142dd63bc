// SPDX-License-Identifier: BSD-3-Clause
// A job with TONARI_REPORT, and what it has printed. Each test ends MPI, so each runs in a job of
// its own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/oracle.hpp"

namespace tonari::test {

// A folder of the job, and TONARI_REPORT for a file in it. Rank 0 removes it.
class ReportJob {
 public:
  using Row = std::map<std::string, std::string>;  // as JSON has them, texts without quotes

  // Collective. file: in the folder; or 0 and 1, as they are.
  explicit ReportJob(const std::string& file = "report.json") {
    char name[64] = "";
    if (world_rank() == 0) {
      const std::string pattern =
          (std::filesystem::temp_directory_path() / "tonari-report-XXXXXX").string();
      EXPECT_LT(pattern.size(), sizeof name);
      pattern.copy(name, sizeof name - 1);
      EXPECT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name;
    setenv("TONARI_REPORT", (file.size() == 1 ? file : path(file)).c_str(), 1);
  }
  ~ReportJob() {
    if (rank == 0) std::filesystem::remove_all(folder_);
  }
  ReportJob(const ReportJob&) = delete;
  ReportJob& operator=(const ReportJob&) = delete;

  std::string path(const std::string& file) const { return folder_ + "/" + file; }

  // Collective: the end of MPI. Keeps what this rank prints to standard error meanwhile.
  void finalize() {
    const std::string file = path("stderr." + std::to_string(rank));
    std::fflush(stderr);
    const int before = dup(STDERR_FILENO);
    EXPECT_NE(std::freopen(file.c_str(), "w", stderr), nullptr);
    EXPECT_EQ(MPI_Finalize(), MPI_SUCCESS);
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    errors = read("stderr." + std::to_string(rank));
  }

  bool exists(const std::string& file) const { return std::filesystem::exists(path(file)); }
  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(path(file)).rdbuf();
    return text.str();
  }
  std::vector<Row> rows(const std::string& file = "report.json") const {
    std::vector<Row> all;
    std::istringstream lines(read(file));
    for (std::string line; std::getline(lines, line);)
      if (line.find('{') != std::string::npos) all.push_back(row(line));
    return all;
  }
  // The only one with these values.
  Row row_with(const Row& wanted) const {
    std::vector<Row> found;
    for (const Row& row : rows())
      if (std::ranges::all_of(wanted, [&](const auto& field) {
            return row.contains(field.first) && row.at(field.first) == field.second;
          }))
        found.push_back(row);
    EXPECT_EQ(found.size(), 1u) << read("report.json");
    return found.empty() ? Row() : found[0];
  }

  const int rank = world_rank(), ranks = world_size();
  std::string errors;

 private:
  static Row row(const std::string& line) {
    static const std::regex field(R"re("(\w+)": (?:"([^"]*)"|([^,}]*)))re");
    Row all;
    for (std::sregex_iterator at(line.begin(), line.end(), field), end; at != end; ++at)
      all[(*at)[1]] = (*at)[2].matched ? (*at)[2] : (*at)[3];
    return all;
  }

  std::string folder_;
};

// Each rank of a communicator sends `words` words to the next one.
class Ring {
 public:
  explicit Ring(MPI_Comm comm, int words = 8)
      : out(static_cast<std::size_t>(words)), in(out.size()), words_(words) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    EXPECT_OK(tonari_neighborhood_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
    std::ranges::fill(out, 100 * rank);
  }
  ~Ring() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  tonari_request init(const char* tune = "off") {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_alltoall_init(out.data(), words_, MPI_INT, in.data(), words_, MPI_INT, near,
                                   Info{{"tonari_tune", tune}}, &request));
    return request;
  }

  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  std::vector<int> out, in;

 private:
  int words_;
};

inline void start(tonari_request request, int times) {
  for (int k = 0; k < times; ++k) {
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
  }
}

}  // namespace tonari::test
