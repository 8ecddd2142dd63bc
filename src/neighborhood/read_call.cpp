// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/read_call.hpp"

#include <optional>

#include "memory/process.hpp"
#include "neighborhood/promises.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

std::string block_name(const Placed& block) {
  return text(block.written ? "receive block " : "send block ", block.block);
}

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
    return text(name(), " block ", block_number(topology, collective, buffer, i));
  }
  // The bytes from its lowest to its highest, counted from the displacement.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> span(std::size_t i) const {
    const Block& b = blocks[i];
    if (b.layout) return b.layout->span();
    const auto origin = reinterpret_cast<std::uintptr_t>(address) +
                        static_cast<std::uintptr_t>(typed[i].displacement);
    const auto first =
        static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(b.address) - origin);
    return {first, first + static_cast<std::ptrdiff_t>(b.bytes)};
  }
};

// Compares addresses, not buffers: a null buffer with absolute displacements is MPI_BOTTOM. Returns
// the first byte.
const std::byte* check_address(const Side& side, std::size_t i) {
  const Block& b = side.blocks[i];
  const auto span = side.span(i);
  check_place(side.address, side.typed[i].displacement, span);
  const std::byte* const first = moved(b.address, b.layout ? span.first : 0);
  if (reinterpret_cast<std::uintptr_t>(first) < first_page)
    fail(Errc::argument, side.block_name(i), " has ", b.bytes, " bytes, but ", side.argument(),
         " is NULL");
  return first;
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

}  // namespace

std::size_t block_number(const LocalTopology& topology, Collective collective, Buffer side,
                         std::size_t i) {
  return side == Buffer::send && collective == Collective::allgather
             ? 0
             : given_number(topology, side, i);
}

void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding) {
  std::vector<Placed> placed;
  std::vector<Layout> whole(binding.send.size() + binding.recv.size());
  const auto add = [&](const std::vector<Block>& blocks, Buffer side) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block& b = blocks[i];
      if (b.bytes == 0) continue;
      Layout& bytes = whole[placed.size()];
      if (!b.layout) bytes.add(0, b.bytes);
      const auto named = static_cast<std::uint32_t>(block_number(topology, collective, side, i));
      placed.push_back({reinterpret_cast<std::uintptr_t>(b.address), b.layout ? b.layout : &bytes,
                        named, side == Buffer::recv});
    }
  };
  add(binding.send, Buffer::send);
  add(binding.recv, Buffer::recv);
  Overlap overlap;
  if (!find_overlap(placed, overlap)) return;
  fail(Errc::buffers, "on rank ", topology.vertex.rank, " ", block_name(placed[overlap.first]),
       " and ", block_name(placed[overlap.second]),
       " overlap; a receive block must share no byte with another block");
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
