// What tonari_bench can do; each returns the rows of its report (the same on all ranks).
#pragma once

#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "workload.hpp"

namespace bench {

struct Outcome {
  std::vector<Row> rows;
  bool tonari_correct = true;  // every exchange made by tonari delivered what it should
};

Outcome compare_exchanges(const Place& place, const Options& options);  // [collective]
Outcome time_setup(const Place& place, const Options& options);         // [collective]

// The fields all rows have: pattern, op, layout, ranks, mpi, mpi_version, dims, mesh, neighbors, bytes.
Row row_of(const Place& place, const Options& options, std::size_t bytes);

}  // namespace bench
