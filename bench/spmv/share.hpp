// SPDX-License-Identifier: BSD-3-Clause
// This rank's part of a matrix: its rows, and whose entries of the vector they need.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench::spmv {

// Ranks, and what goes to or comes from each of them: counts[i] values from displs[i] on.
struct Blocks {
  std::vector<int> ranks{}, counts{}, displs{};
  int size() const { return static_cast<int>(ranks.size()); }
  int values() const { return ranks.empty() ? 0 : displs.back() + counts.back(); }
  void add(int rank, int count) {
    displs.push_back(values());
    ranks.push_back(rank), counts.push_back(count);
  }
};

struct Share {
  Share(const std::string& folder, MPI_Comm comm);  // [collective] throws tonari::Error
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  MPI_Comm comm;
  int rank = 0, ranks = 1;
  std::int64_t size = 0, nonzeros = 0;  // of the whole matrix
  std::int64_t first = 0, owned = 0;    // this rank's rows, and entries of vectors
  std::vector<std::int64_t> begin{};    // its rows: columns[begin[i]], ..., ascending
  std::vector<std::int64_t> columns{};  // global
  std::vector<double> values{};
  // global indices of what these rows need from others, ascending, so that those of one owner lie
  // together
  std::vector<std::int64_t> ghosts{};
  Blocks sources{};                    // owners of ghosts
  Blocks targets{};                    // who needs what from here, as a list of
  std::vector<std::int32_t> wanted{};  //   local own indices

 private:
  void read(const std::string& folder);
  void find_targets();
  std::vector<std::int64_t> ranges_{};
};

}  // namespace bench::spmv
