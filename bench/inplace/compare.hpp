// Times and weighs all candidates of an exchange.
#pragma once

#include <mpi.h>

#include "planners/in_place/options.hpp"
#include "program.hpp"

namespace bench::inplace {

Outcome compare(const Options& options, MPI_Comm comm);  // [collective]

}  // namespace bench::inplace
