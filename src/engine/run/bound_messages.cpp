// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/bound_messages.hpp"

namespace tonari {

void BoundMessages::make_requests(const Tags& tags) {
  requests.assign(transfers.size(), MPI_REQUEST_NULL);
  for (std::size_t k = 0; persistent && k < requests.size(); ++k) {
    const Transfer& t = transfers[k];
    const int tag = tags.first + t.tag;
    if (t.send)
      check_mpi(MPI_Send_init(t.buffer, t.count, t.type, t.peer, tag, tags.comm, &requests[k]),
                "MPI_Send_init");
    else
      check_mpi(MPI_Recv_init(t.buffer, t.count, t.type, t.peer, tag, tags.comm, &requests[k]),
                "MPI_Recv_init");
  }
}

void BoundMessages::copy_to(Shifts to, const BoundMessages& other, const P2pProgram& program,
                            const Tags& tags) {
  release();
  transfers = other.transfers;
  for (Transfer& t : transfers) {
    t.buffer = moved(static_cast<std::byte*>(t.buffer), to[t.space] - other.shifts[t.space]);
    if (t.scattered < 0) continue;
    MPI_Datatype* const type = types.emplace_back().place();
    program.scattered[static_cast<std::size_t>(t.scattered)].describe(to, type);
    t.type = *type;
  }
  make_requests(tags);
  shifts.assign(to.begin(), to.end());
}

void BoundMessages::release() {
  shifts.clear();
  for (MPI_Request& request : requests)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  types.clear();
}

}  // namespace tonari
