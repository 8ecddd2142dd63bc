// SPDX-License-Identifier: BSD-3-Clause
#include "channels/native/native.hpp"

#include <algorithm>

#include "mpi/mpi_error.hpp"
#include "mpi/quirks.hpp"

namespace tonari {
namespace {

// Tells whether every rank has all neighbors, because ranks must agree on which collective they
// call.
bool all_have_all(const Neighborhood& near) {
  for (const Vec& offset : near.offsets)
    for (int j = 0; j < near.grid.dimensions(); ++j)
      if (offset[j] != 0 && !near.grid.periodic(j)) return false;
  return true;
}

// Offset i is the opposite of offset s - 1 - i, as in lists that loops over coordinates make.
bool palindromic(const std::vector<Vec>& offsets) {
  const std::size_t s = offsets.size();
  for (std::size_t i = 0; 2 * i < s; ++i)
    if (offsets[i] != Vec{} - offsets[s - 1 - i]) return false;
  return true;
}

// Tells whether -C is in the list as often as C: then every rank sends as many blocks as it
// receives, even on a mesh.
bool symmetric(const Neighborhood& near) {
  if (palindromic(near.offsets)) return true;
  std::vector<Vec> forth = near.offsets, back;
  back.reserve(forth.size());
  for (const Vec& offset : forth) back.push_back(Vec{} - offset);
  std::sort(forth.begin(), forth.end());
  std::sort(back.begin(), back.end());
  return forth == back;
}

// A mark for each rank and one for none, unless the list is short compared with them.
bool repeats(const Neighborhood& near) {
  const std::size_t s = near.offsets.size(), all = static_cast<std::size_t>(near.grid.ranks()) + 1;
  if (s > all) return true;
  std::vector<std::int32_t> targets = neighbor_ranks(near, 0).targets;
  if (all > 64 * s) {
    std::sort(targets.begin(), targets.end());
    return std::adjacent_find(targets.begin(), targets.end()) != targets.end();
  }
  std::vector<bool> seen(all);
  for (const std::int32_t target : targets) {
    if (seen[static_cast<std::size_t>(target + 1)]) return true;
    seen[static_cast<std::size_t>(target + 1)] = true;
  }
  return false;
}

// The regular collective: all ranks call it, or none does.
bool can_be_regular(const Arguments& arguments, const NativeShape& shape) {
  if (arguments.form != Form::regular || !shape.complete) return false;
  return !(quirks().neighbors && arguments.collective == Collective::alltoall && shape.repeats);
}

}  // namespace

NativeShape native_shape(const Neighborhood& near) {
  const bool complete = all_have_all(near);
  return {complete, repeats(near), complete || symmetric(near)};
}

bool native_is_right(const NativeShape& shape) {
  return shape.in_order && (!quirks().neighbors || shape.balanced);
}

NativeArguments::NativeArguments(const Arguments& arguments, const Vertex& vertex,
                                 const NativeShape& shape)
    : collective(arguments.collective), sendbuf(arguments.sendbuf), recvbuf(arguments.recvbuf) {
  TypeDuplicates duplicate(owned_);
  for (std::size_t i = 0; i < vertex.targets.size(); ++i) {
    if (vertex.targets[i] < 0) continue;
    const TypedBlock& send = arguments.send[collective == Collective::alltoall ? i : 0];
    const CountedType counted = with_int_count(send.count, duplicate(send.type), owned_);
    send_counts.push_back(counted.count);
    send_displacements.push_back(send.displacement);
    send_types.push_back(counted.type);
    send_spaces.push_back(send.space);
  }
  for (std::size_t j = 0; j < vertex.sources.size(); ++j) {
    if (vertex.sources[j] < 0) continue;
    const TypedBlock& recv = arguments.recv[j];
    const CountedType counted = with_int_count(recv.count, duplicate(recv.type), owned_);
    recv_counts.push_back(counted.count);
    recv_displacements.push_back(recv.displacement);
    recv_types.push_back(counted.type);
    recv_spaces.push_back(recv.space);
  }
  regular = can_be_regular(arguments, shape);
  if (regular) {
    // A side without blocks takes the other side's size: MPIs compare the two sizes, even where
    // nothing is sent or received.
    const CountedType none{0, MPI_BYTE};
    recv_block = recv_types.empty() ? none : CountedType{recv_counts[0], recv_types[0]};
    send_block = send_types.empty() ? recv_block : CountedType{send_counts[0], send_types[0]};
    if (recv_types.empty()) recv_block = send_block;
  }
  // Addresses of empty lists must still be valid, and some MPIs want buffers where there are
  // counts.
  static char nothing;
  if (!sendbuf && send_types.empty()) sendbuf = &nothing;
  if (!recvbuf && recv_types.empty()) recvbuf = &nothing;
  send_counts.push_back(0), recv_counts.push_back(0), send_displacements.push_back(0),
      recv_displacements.push_back(0);
  send_types.push_back(MPI_BYTE), recv_types.push_back(MPI_BYTE);
}

// The regular form lies in the two buffers of a call; other blocks may lie anywhere.
void NativeArguments::move(Shifts by) {
  if (regular) {
    sendbuf = moved(static_cast<const std::byte*>(sendbuf), by[send_space]);
    recvbuf = moved(static_cast<std::byte*>(recvbuf), by[recv_space]);
  }
  for (std::size_t k = 0; k < send_spaces.size(); ++k) send_displacements[k] += by[send_spaces[k]];
  for (std::size_t k = 0; k < recv_spaces.size(); ++k) recv_displacements[k] += by[recv_spaces[k]];
}

Bytes NativeArguments::bytes() const {
  Bytes all = 0;
  for (std::size_t k = 0; k < send_counts.size(); ++k)
    all += static_cast<Bytes>(size_of_type(send_types[k])) * static_cast<Bytes>(send_counts[k]);
  return all;
}

bool has_persistent_neighborhood_collectives() { return TONARI_PERSISTENT_COLLECTIVES; }

namespace {

// Calls the collective that fits, with the arguments that its persistent and its non-blocking form
// share.
template <class Irregular, class Regular, class... More>
MPI_Request call(const NativeArguments& a, Irregular* alltoallw, Regular* alltoall,
                 Regular* allgather, More... more) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (!a.regular)
    check_mpi(alltoallw(a.sendbuf, a.send_counts.data(), a.send_displacements.data(),
                        a.send_types.data(), a.recvbuf, a.recv_counts.data(),
                        a.recv_displacements.data(), a.recv_types.data(), more..., &request),
              "MPI's neighborhood alltoallw");
  else
    check_mpi((a.collective == Collective::alltoall ? alltoall : allgather)(
                  a.sendbuf, a.send_block.count, a.send_block.type, a.recvbuf, a.recv_block.count,
                  a.recv_block.type, more..., &request),
              a.collective == Collective::alltoall ? "MPI's neighborhood alltoall"
                                                   : "MPI's neighborhood allgather");
  return request;
}

}  // namespace

MPI_Request native_init(const NativeArguments& a, MPI_Comm graph) {
#if TONARI_PERSISTENT_COLLECTIVES
  return call(a, TONARI_NEIGHBOR_ALLTOALLW_INIT, TONARI_NEIGHBOR_ALLTOALL_INIT,
              TONARI_NEIGHBOR_ALLGATHER_INIT, graph, MPI_INFO_NULL);
#else
  return (void)a, (void)graph, MPI_REQUEST_NULL;
#endif
}

MPI_Request native_start(const NativeArguments& a, MPI_Comm graph) {
  return call(a, MPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoall, MPI_Ineighbor_allgather, graph);
}

}  // namespace tonari
