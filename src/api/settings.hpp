// Settings of a neighborhood or a request: info keys over inherited ones, environment variables over both.
#pragma once

#include <mpi.h>

#include "select/candidates.hpp"

namespace tonari {

// Throws Errc::argument or Errc::algorithm with the key that is wrong.
Settings read_settings(MPI_Info info, Settings inherited);

// With what is promised of all exchanges on the neighborhood.
Settings read_neighborhood_settings(MPI_Info info);

}  // namespace tonari
