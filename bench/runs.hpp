// SPDX-License-Identifier: BSD-3-Clause
// The parts that the runs of tonari_bench share.
#pragma once

#include "options.hpp"
#include "program.hpp"
#include "workload.hpp"

namespace bench {

Outcome time_setup(const Place& place, const Options& options);  // [collective]

// The fields all rows have: pattern, op, layout, ranks, mpi, mpi_version, dims, mesh, neighbors,
// bytes.
Row row_of(const Place& place, const Options& options, std::size_t bytes);

}  // namespace bench
