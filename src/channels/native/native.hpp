// SPDX-License-Identifier: BSD-3-Clause
// MPI's own neighborhood collective as an exchange: a candidate like any other.
//
// Its completion must not depend on the order in which ranks wait. So it is the persistent form
// where the MPI has it, otherwise the non-blocking one.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "channels/arguments.hpp"
#include "mpi/large_type.hpp"
#include "mpi/owned_type.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// The facts about a neighborhood that matter to MPI's own collectives; the same on all ranks.
struct NativeShape {
  bool complete = true;  // all neighbors of all ranks exist
  bool repeats = false;  // some rank sends several blocks to one
  bool balanced = true;  // every rank sends as many blocks as it receives
  // of several blocks between two ranks the k-th that is sent is the k-th that is received
  bool in_order = true;
};
NativeShape native_shape(const Neighborhood& near);  // pure

// The arguments in MPI's form for a communicator of make_graph. It leaves out neighbors that do not
// exist, and so their blocks.
struct NativeArguments {
  NativeArguments(const Arguments& arguments, const Vertex& vertex, const NativeShape& shape);

  // equal blocks one after the other in list order, and all neighbors exist on all ranks: the
  // regular collective can be called
  bool regular;
  Collective collective;
  const void* sendbuf;
  void* recvbuf;
  CountedType send_block, recv_block;  // regular form
  std::vector<int> send_counts, recv_counts;
  std::vector<MPI_Aint> send_displacements, recv_displacements;
  std::vector<SpaceId> send_spaces, recv_spaces;     // of blocks
  std::vector<MPI_Datatype> send_types, recv_types;  // made here: the program may free its own

  void move(Shifts by);  // what lies in spaces that have moved so far
  Bytes bytes() const;   // sent

 private:
  std::vector<OwnedType> owned_;
};

// Tells whether this MPI's own collective delivers the right blocks on such a neighborhood. Pure;
// the same on all ranks.
bool native_is_right(const NativeShape& shape);
// Tells whether this MPI has persistent neighborhood collectives.
bool has_persistent_neighborhood_collectives();
// Makes a request for MPI_Start, if the MPI has them. Collective.
MPI_Request native_init(const NativeArguments& arguments, MPI_Comm graph);
// The non-blocking collective.
MPI_Request native_start(const NativeArguments& arguments, MPI_Comm graph);

}  // namespace tonari
