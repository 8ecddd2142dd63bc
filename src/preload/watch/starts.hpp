// SPDX-License-Identifier: BSD-3-Clause
// For functions of MPI that are replaced for other reasons, too: what is watched of them.
#pragma once

namespace tonari::watch {

// MPI_Start and MPI_Startall; real: the MPI's.
int start(int (*real)(void*), const void* returns_to, void* request);
int start_all(int (*real)(int, void*), const void* returns_to, int count, void* requests);
// MPI_Request_free of this MPI_Request.
void forget_request(const void* request);

}  // namespace tonari::watch
