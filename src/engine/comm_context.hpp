// Contexts of communicators, for exchanges between all their ranks.
#pragma once

#include <memory>

#include "engine/context.hpp"

namespace tonari {

// What exchanges on a communicator of the program share, made at the first one and kept as the communicator's attribute until it is freed. Collective.
std::shared_ptr<Context> context_of(MPI_Comm comm);

}  // namespace tonari
