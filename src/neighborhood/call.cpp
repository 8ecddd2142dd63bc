// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/call.hpp"

#include "mpi/datatype.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

// Reads one side of an operation.
struct SideOfCall {
  const char* prefix;  // of the arguments' names: "send", "recv" or ""
  const void* buffer;
  std::size_t blocks;

  // Names the argument, or one entry of it.
  std::string named(const char* what) const { return text("`", prefix, what, "`"); }
  std::string named(const char* what, std::size_t i) const {
    return text("`", prefix, what, "[", i, "]`");
  }
  // name...: what named() takes; nothing is named that is right
  template <class... Name>
  void check_count(MPI_Count count, Name... name) const {
    if (count < 0)
      fail(Errc::argument, named(name...), " is ", count, "; counts must not be negative");
  }
  // The type to go on with. Where there is no element MPICH takes a null type, so programs give it.
  template <class... Name>
  MPI_Datatype read_type(MPI_Datatype type, bool empty, Name... name) const {
    if (type != MPI_DATATYPE_NULL) return type;
    if (!empty)
      fail(Errc::argument, named(name...),
           " is MPI_DATATYPE_NULL, but there are elements; give their type");
    return MPI_BYTE;
  }
  void check_buffer() const {
    require_contiguous(buffer, prefix[0] == 's' ? "sendbuf" : prefix[0] == 'r' ? "recvbuf" : "buf");
    if (buffer == MPI_IN_PLACE)
      fail(Errc::argument, "MPI_IN_PLACE has no meaning in a neighborhood collective");
  }
  template <class List>
  void require_list(const List& list, const char* what) const {
    if (blocks > 0 && !list) fail(Errc::argument, named(what), " is NULL");
  }
  // count elements each, one block after the other
  std::vector<TypedBlock> regular(MPI_Count count, MPI_Datatype type) const {
    check_buffer();
    std::vector<TypedBlock> all;
    if (blocks == 0) return all;
    all.reserve(blocks);
    check_count(count, "count");
    type = read_type(type, count == 0, "type");
    const MPI_Aint step =
        checked_multiply<MPI_Aint>(extent_of(type).length, count, "size of a block");
    checked_multiply<MPI_Aint>(step, static_cast<MPI_Aint>(blocks), "size of the buffer");
    for (std::size_t i = 0; i < blocks; ++i)
      all.push_back({step * static_cast<MPI_Aint>(i), count, type});
    return all;
  }
  std::vector<TypedBlock> v(Numbers counts, const MPI_Aint displacements[],
                            MPI_Datatype type) const {
    check_buffer();
    require_list(counts, "counts"), require_list(displacements, "displs");
    bool empty = true;
    for (std::size_t i = 0; i < blocks; ++i) {
      check_count(counts[i], "counts", i);
      empty &= counts[i] == 0;
    }
    type = read_type(type, empty, "type");
    std::vector<TypedBlock> all;
    const MPI_Aint unit = blocks > 0 ? extent_of(type).length : 0;
    for (std::size_t i = 0; i < blocks; ++i)
      all.push_back({checked_multiply(displacements[i], unit, "displacement"), counts[i], type});
    return all;
  }
  std::vector<TypedBlock> w(Numbers counts, const MPI_Aint displacements[],
                            const MPI_Datatype types[]) const {
    check_buffer();
    require_list(counts, "counts"), require_list(displacements, "displs");
    require_list(types, "types");
    std::vector<TypedBlock> all;
    for (std::size_t i = 0; i < blocks; ++i) {
      check_count(counts[i], "counts", i);
      all.push_back({displacements[i], counts[i], read_type(types[i], counts[i] == 0, "types", i)});
    }
    return all;
  }
};

// The blocks in the order of the recognized neighborhood. Blocks that the program does not have are
// empty.
std::vector<TypedBlock> reordered(const std::vector<TypedBlock>& blocks,
                                  const std::vector<std::int32_t>& numbers) {
  std::vector<TypedBlock> ours;
  for (std::int32_t number : numbers) ours.push_back(number < 0 ? TypedBlock{} : blocks[number]);
  return ours;
}

bool in_order(const std::vector<std::int32_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

Arguments in_our_order(const LocalTopology& topology, Arguments arguments) {
  if (!topology.given) return arguments;
  // blocks do not follow each other any more
  if (!in_order(topology.send_blocks) || !in_order(topology.recv_blocks)) arguments.form = Form::w;
  if (arguments.collective == Collective::alltoall)
    arguments.send = reordered(arguments.send, topology.send_blocks);
  arguments.recv = reordered(arguments.recv, topology.recv_blocks);
  return arguments;
}

}  // namespace

std::vector<TypedBlock> typed_blocks(const char* prefix, std::size_t blocks,
                                     const BufferArguments& given) {
  const SideOfCall side{prefix, given.buffer, blocks};
  if (given.form == Form::regular) return side.regular(given.count, given.type);
  if (given.form == Form::v) return side.v(given.counts, given.displacements, given.type);
  return side.w(given.counts, given.displacements, given.types);
}

namespace {

std::vector<TypedBlock> read_side(const char* prefix, std::size_t blocks,
                                  const BufferArguments& given, SpaceId space) {
  std::vector<TypedBlock> all = typed_blocks(prefix, blocks, given);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].space = given.spaces ? given.spaces[i] : space;
  return all;
}

}  // namespace

Arguments Call::read(const LocalTopology& topology) const {
  // MPI's buffers are void*, whatever they are written to
  void* into = const_cast<void*>(recv.buffer);
  return in_our_order(topology, {collective, form(), send.buffer, into,
                                 read_side("send", blocks_sent(topology), send, send_space),
                                 read_side("recv", blocks_received(topology), recv, recv_space)});
}

}  // namespace tonari
