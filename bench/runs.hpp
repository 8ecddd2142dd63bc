// What tonari_bench can do.
#pragma once

#include "options.hpp"
#include "program.hpp"
#include "workload.hpp"

namespace bench {

Outcome compare_exchanges(const Place& place, const Options& options);  // [collective]
Outcome time_setup(const Place& place, const Options& options);         // [collective]

// The fields all rows have: pattern, op, layout, ranks, mpi, mpi_version, dims, mesh, neighbors,
// bytes.
Row row_of(const Place& place, const Options& options, std::size_t bytes);

}  // namespace bench
