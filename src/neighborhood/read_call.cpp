// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/read_call.hpp"

#include <algorithm>
#include <optional>

#include "memory/process.hpp"
#include "neighborhood/overlaps.hpp"
#include "neighborhood/promises.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

// One side of a call.
struct Side {
  const LocalTopology& topology;
  Collective collective;
  Buffer buffer;
  const void* address;
  const std::vector<TypedBlock>& typed;
  const std::vector<Block>& blocks;

  const char* name() const { return buffer == Buffer::send ? "send" : "receive"; }
  const char* argument() const { return buffer == Buffer::send ? "`sendbuf`" : "`recvbuf`"; }
  std::string block_name(std::size_t i) const {
    return text(name(), " block ", given_number(topology, collective, buffer, i));
  }
};

// Compares addresses, not buffers: a null buffer with absolute displacements is MPI_BOTTOM. Returns
// the first byte.
const std::byte* check_address(const Side& side, std::size_t i) {
  const AddressSpan span = span_of(side.blocks[i]);
  const auto origin = reinterpret_cast<std::uintptr_t>(side.address) +
                      static_cast<std::uintptr_t>(side.typed[i].displacement);
  check_place(side.address, side.typed[i].displacement,
              {static_cast<std::ptrdiff_t>(span.low - origin),
               static_cast<std::ptrdiff_t>(span.high - origin)});
  if (span.low < first_page)
    fail(Errc::argument, side.block_name(i), " has ", side.blocks[i].bytes, " bytes, but ",
         side.argument(), " is NULL");
  return reinterpret_cast<const std::byte*>(span.low);
}

// No driver knows memory that was freed.
void check_allocated(const Side& side, std::size_t i, const std::byte* first) {
  if (!may_be_read(first))
    fail(Errc::argument, side.block_name(i),
         " is memory that neither the host nor a GPU can read; give memory that is allocated, and "
         "was not freed");
}

// Returns what of the side lies on a GPU, which is all blocks or none.
std::string check_addresses(const Side& side) {
  const bool gpus = gpu_driver_known.load(std::memory_order_relaxed);
  std::optional<std::size_t> by_gpu, by_host;
  for (std::size_t i = 0; i < side.blocks.size(); ++i) {
    if (side.blocks[i].bytes == 0) continue;
    const std::byte* const first = check_address(side, i);
    if (!gpus) continue;
    const bool its = on_gpu(first);
    if (!its) check_allocated(side, i, first);
    if (std::optional<std::size_t>& first_of_kind = its ? by_gpu : by_host; !first_of_kind)
      first_of_kind = i;
    if (by_gpu && by_host)
      fail(Errc::argument, side.block_name(*by_gpu), " is memory of a GPU, and ",
           side.block_name(*by_host), " is not; give all ", side.name(),
           " blocks in memory of one kind");
  }
  if (!by_gpu) return "";
  return side.address ? side.argument() : side.block_name(*by_gpu);
}

bool exists(std::int32_t peer) { return peer >= 0; }

}  // namespace

void leave_out_missing(const Vertex& vertex, Arguments& arguments) {
  Binding& binding = arguments.binding;
  for (std::size_t i = 0; i < binding.send.size(); ++i) {
    const bool sent = arguments.collective == Collective::alltoall
                          ? exists(vertex.targets[i])
                          : std::ranges::any_of(vertex.targets, exists);
    if (!sent) arguments.send[i] = {}, binding.send[i] = {};
  }
  for (std::size_t j = 0; j < binding.recv.size(); ++j)
    if (!exists(vertex.sources[j])) arguments.recv[j] = {}, binding.recv[j] = {};
}

void read_blocks(Context& context, const Call& call, ReadCall& mine) {
  const LocalTopology& topology = context.topology();
  mine.arguments = call.read(topology);
  Arguments& read = mine.arguments;
  const Binding& binding = read.binding;
  read.bind();
  mine.sizes = SizePrint(topology, call.collective, binding);
  leave_out_missing(topology.vertex, read);
  look_for_gpu_drivers();
  const Collective collective = call.collective;
  mine.on_gpu = {
      check_addresses({topology, collective, Buffer::send, read.sendbuf, read.send, binding.send}),
      check_addresses({topology, collective, Buffer::recv, read.recvbuf, read.recv, binding.recv})};
  if (context.exact_sizes()) check_exact_sizes(context, call.collective, binding);
}

ReadCall read_call(Context& context, const Call& call) {
  ReadCall mine;
  read_blocks(context, call, mine);
  check_overlaps(context.topology(), call.collective, mine.arguments.binding);
  return mine;
}

}  // namespace tonari
