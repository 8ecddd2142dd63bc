// Makes requests from normalised arguments.
#pragma once

#include <functional>

#include "api/handles.hpp"
#include "channels/arguments.hpp"

namespace tonari {

// Collective. read: brings the caller's arguments into normal form; may throw.
tonari_request make_request(tonari_neighborhood near, MPI_Info info, const std::function<Arguments()>& read);

}  // namespace tonari
