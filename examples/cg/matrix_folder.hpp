// SPDX-License-Identifier: BSD-3-Clause
// A matrix partitioned by rows, as `tonari partition` writes it: a folder of NumPy files of
// which every rank reads its own part.
//
//   ranges.npy     int64, P + 1   rank p owns the rows ranges[p] to ranges[p + 1] - 1
//   row_begin.npy  int64, N + 1   row i has the entries row_begin[i] to row_begin[i + 1] - 1
//   columns.npy    int64          column of each entry
//   values.npy     float64        and its value
//   b.npy          float64, N     a right-hand side, if there is one
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// The same on all ranks, so one of them says it.
struct FolderError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MatrixPart {
  std::int64_t size = 0;  // N
  std::int64_t first = 0, owned = 0;
  std::vector<std::int64_t> begin, columns;  // begin: from 0
  std::vector<double> values;
  std::optional<std::vector<double>> b;

  std::vector<double> diagonal() const;
};

// Collective. Files come from strangers: what is wrong with any of them on any rank throws
// FolderError on all, with the file and what was expected.
MatrixPart read_matrix(const std::string& folder, MPI_Comm comm);
