// Kinds one after the other, in each all candidates round by round.
#pragma once

#include <mpi.h>

#include "program.hpp"
#include "spmv/options.hpp"

namespace bench::spmv {

Outcome compare(const Options& options, MPI_Comm comm);  // [collective]

}  // namespace bench::spmv
