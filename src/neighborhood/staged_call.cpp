// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/staged_call.hpp"

#include <array>

#include "mpi/large_type.hpp"

namespace tonari {
namespace {

constexpr std::size_t side_space = 1;  // all of a side moves together

MPI_Count count_of(const BufferArguments& given, std::size_t block) {
  return given.form == Form::regular ? given.count : given.counts[block];
}
MPI_Datatype type_of(const BufferArguments& given, std::size_t block) {
  return given.form == Form::w ? given.types[block] : given.type;
}
// Of the elements of a block; those of no elements may have no type.
Bytes bytes_of(const BufferArguments& given, std::size_t block) {
  const MPI_Count count = count_of(given, block);
  return count == 0 ? 0 : static_cast<Bytes>(count * size_of_type(type_of(given, block)));
}

}  // namespace

StagedCall::StagedCall(const Call& call, const LocalTopology& topology, const ReadCall& read) {
  if (!read.on_gpu.send.empty())
    sides_.send =
        pin(StagedSide(read, topology, Buffer::send), call.send, call.blocks_sent(topology), send_);
  if (!read.on_gpu.recv.empty())
    sides_.recv = pin(StagedSide(read, topology, Buffer::recv), call.recv,
                      call.blocks_received(topology), recv_);
}

// Blocks in the program's order, each with room for its elements, also where it does not move.
std::shared_ptr<PinnedCopy> StagedCall::pin(const StagedSide& staged, const BufferArguments& given,
                                            std::size_t blocks, Side& side) {
  side.buffer = given.buffer;
  std::vector<DeviceBlock> on_device(blocks);
  for (std::size_t i = 0; i < staged.blocks().size(); ++i)
    if (const Block& block = staged.blocks()[i]; block.bytes > 0)
      on_device[staged.number(i)] = {block.address, block.layout, block.bytes, 0, side_space};
  MPI_Aint elements = 0, bytes = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    on_device[k].room = bytes_of(given, k);
    const MPI_Datatype type = type_of(given, k);
    const MPI_Datatype packed = type == MPI_DATATYPE_NULL ? type : packed_(type);
    side.displacements.push_back(given.form == Form::w ? bytes : elements);
    side.types.push_back(side.type = packed);
    elements += static_cast<MPI_Aint>(count_of(given, k));
    bytes += static_cast<MPI_Aint>(on_device[k].room);
  }
  return staged.pin(on_device);
}

BufferArguments StagedCall::pinned(const BufferArguments& given, const Side& side,
                                   const PinnedCopy& copy) {
  BufferArguments pinned = given;
  pinned.buffer = copy.host();
  if (given.form != Form::w) pinned.type = side.type;
  if (given.form != Form::regular) pinned.displacements = side.displacements.data();
  if (given.form == Form::w) pinned.types = side.types.data();
  return pinned;
}

Call StagedCall::pinned(const Call& call) const {
  Call pinned = call;
  if (sides_.send) pinned.send = StagedCall::pinned(call.send, send_, *sides_.send);
  if (sides_.recv) pinned.recv = StagedCall::pinned(call.recv, recv_, *sides_.recv);
  return pinned;
}

void StagedCall::move_to(const void* buffer, Side& side, PinnedCopy& copy, const char* name) {
  const std::ptrdiff_t shift = distance(side.buffer, buffer);
  if (shift == side.shift) return;
  const std::array<std::ptrdiff_t, 2> shifts{0, shift};
  copy.check_reach(shifts, name);
  copy.move_to(shifts);
  side.shift = shift;
}

void StagedCall::move_to(const Call& call) {
  if (sides_.send) move_to(call.send.buffer, send_, *sides_.send, "`sendbuf`");
  if (sides_.recv) move_to(call.recv.buffer, recv_, *sides_.recv, "`recvbuf`");
}

void StagedCall::pack() const {
  if (!sides_.send) return;
  sides_.send->put_on(sides_.send->own_stream());
  sides_.send->wait();
}

void StagedCall::unpack() const {
  if (!sides_.recv) return;
  sides_.recv->put_on(sides_.recv->own_stream());
  sides_.recv->wait();
}

}  // namespace tonari
