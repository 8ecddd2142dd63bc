// Times all exchanges and steps.
#pragma once

#include <mpi.h>

#include "halo/options.hpp"
#include "program.hpp"

namespace bench::halo {

Outcome compare(const Options& options, MPI_Comm comm);  // [collective]

}  // namespace bench::halo
