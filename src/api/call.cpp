#include "api/call.hpp"

#include <algorithm>

#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

MPI_Aint extent(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  return extent;
}

// Reads one side of an operation.
struct Side {
  const char* name;  // "send" or "receive"
  const void* buffer;
  std::size_t blocks;

  TypedBlock block(std::size_t i, int count, MPI_Datatype type, MPI_Aint displacement) const {
    if (count < 0)
      fail(Errc::argument, name, " count ", i, " is ", count, "; counts must not be negative");
    if (type == MPI_DATATYPE_NULL) fail(Errc::argument, name, " type ", i, " is MPI_DATATYPE_NULL");
    return {displacement, count, type};
  }
  void check(const void* counts, const void* displacements, const void* types) const {
    if (buffer == MPI_IN_PLACE)
      fail(Errc::argument, "MPI_IN_PLACE has no meaning in a neighborhood collective");
    if (blocks > 0 && !counts) fail(Errc::argument, "the array of ", name, " counts is null");
    if (blocks > 0 && !displacements)
      fail(Errc::argument, "the array of ", name, " displacements is null");
    if (blocks > 0 && !types) fail(Errc::argument, "the array of ", name, " types is null");
  }
  // count elements each, one block after the other
  std::vector<TypedBlock> regular(int count, MPI_Datatype type) const {
    check(this, this, this);
    std::vector<TypedBlock> all;
    if (blocks == 0) return all;
    all.reserve(blocks);
    const TypedBlock first = block(0, count, type, 0);
    const MPI_Aint step = checked_multiply<MPI_Aint>(extent(type), count, "size of a block");
    checked_multiply<MPI_Aint>(step, static_cast<MPI_Aint>(blocks), "size of the buffer");
    for (std::size_t i = 0; i < blocks; ++i)
      all.push_back({step * static_cast<MPI_Aint>(i), first.count, first.type});
    return all;
  }
  std::vector<TypedBlock> v(const int counts[], const MPI_Aint displacements[],
                            MPI_Datatype type) const {
    check(counts, displacements, this);
    if (blocks > 0 && type == MPI_DATATYPE_NULL)
      fail(Errc::argument, "the ", name, " type is MPI_DATATYPE_NULL");
    std::vector<TypedBlock> all;
    const MPI_Aint unit = blocks > 0 ? extent(type) : 0;
    for (std::size_t i = 0; i < blocks; ++i)
      all.push_back(
          block(i, counts[i], type, checked_multiply(displacements[i], unit, "displacement")));
    return all;
  }
  std::vector<TypedBlock> w(const int counts[], const MPI_Aint displacements[],
                            const MPI_Datatype types[]) const {
    check(counts, displacements, types);
    std::vector<TypedBlock> all;
    for (std::size_t i = 0; i < blocks; ++i)
      all.push_back(block(i, counts[i], types[i], displacements[i]));
    return all;
  }
};

// The blocks in the order of the neighborhood that was recognized. Blocks that the program does not
// have are empty.
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

Arguments in_our_order(const Place& place, Arguments arguments) {
  if (!place.given) return arguments;
  // blocks do not follow each other any more
  if (!in_order(place.send_blocks) || !in_order(place.recv_blocks)) arguments.form = Form::w;
  if (arguments.collective == Collective::alltoall)
    arguments.send = reordered(arguments.send, place.send_blocks);
  arguments.recv = reordered(arguments.recv, place.recv_blocks);
  return arguments;
}

bool exists(std::int32_t peer) { return peer >= 0; }

}  // namespace

const char* Call::name() const {
  static const char* const names[operations] = {"alltoall",  "alltoallv",  "alltoallw",
                                                "allgather", "allgatherv", "allgatherw"};
  return names[operation()];
}

std::vector<TypedBlock> read_blocks(const char* name, std::size_t blocks, const Given& given) {
  const Side side{name, given.buffer, blocks};
  if (given.form == Form::regular) return side.regular(given.count, given.type);
  if (given.form == Form::v) return side.v(given.counts, given.displacements, given.type);
  return side.w(given.counts, given.displacements, given.types);
}

Arguments Call::read(const Place& place) const {
  // MPI's buffers are void*, whatever they are written to
  void* into = const_cast<void*>(recv.buffer);
  return in_our_order(
      place, {collective, form(), send.buffer, into, read_blocks("send", blocks_sent(place), send),
              read_blocks("receive", blocks_received(place), recv)});
}

void leave_out_missing(const Vertex& vertex, Arguments& arguments, Binding& binding) {
  for (std::size_t i = 0; i < binding.send.size(); ++i) {
    const bool sent = arguments.collective == Collective::alltoall
                          ? exists(vertex.targets[i])
                          : std::ranges::any_of(vertex.targets, exists);
    if (!sent) arguments.send[i] = {}, binding.send[i] = {};
  }
  for (std::size_t j = 0; j < binding.recv.size(); ++j)
    if (!exists(vertex.sources[j])) arguments.recv[j] = {}, binding.recv[j] = {};
}

}  // namespace tonari
