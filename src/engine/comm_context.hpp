// Contexts of communicators, for exchanges between all their ranks.
#pragma once

#include <memory>

#include "engine/context.hpp"

namespace tonari {

// What exchanges on a communicator of the program share. Collective at the first call for a communicator.
std::shared_ptr<Context> context_of(MPI_Comm comm);

}  // namespace tonari
