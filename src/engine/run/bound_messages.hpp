// SPDX-License-Identifier: BSD-3-Clause
// The messages of a plan that go by MPI point to point, as MPI knows them for one set of the
// program's buffers: what is bound to addresses there cannot be moved.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "channels/p2p/program.hpp"

namespace tonari {

struct BoundMessages {
  // Where they are sent and received.
  struct Tags {
    MPI_Comm comm;
    int first;  // the plan's tags begin here
  };

  BoundMessages() = default;
  BoundMessages(BoundMessages&& other) noexcept { swap(other); }
  BoundMessages& operator=(BoundMessages&& other) noexcept { return swap(other), *this; }
  ~BoundMessages() { release(); }
  void swap(BoundMessages& other) noexcept {
    shifts.swap(other.shifts), transfers.swap(other.transfers);
    requests.swap(other.requests), types.swap(other.types);
    std::swap(persistent, other.persistent);
  }

  // Makes requests for the transfers, or room for them if they are not persistent.
  void make_requests(const Tags& tags);
  // Makes this the messages of `other` once its spaces are moved from its shifts to these. On an
  // error it is those of no buffers. program: has what must be described anew.
  void copy_to(Shifts to, const BoundMessages& other, const P2pProgram& program, const Tags& tags);

  std::vector<std::ptrdiff_t> shifts;  // by space, from the buffers of init
  std::vector<Transfer> transfers;
  std::vector<MPI_Request> requests;
  std::vector<OwnedType> types;  // that were made for these shifts
  bool persistent = false;

 private:
  void release();  // none of the requests may be active
};

}  // namespace tonari
