// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/read_call.hpp"

#include "neighborhood/promises.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

std::string block_name(const Placed& block) {
  return text(block.written ? "receive block " : "send block ", block.block);
}

// The blocks by the program's numbers. An allgather has one block to send.
std::size_t number(const LocalTopology& topology, Collective collective, Buffer side,
                   std::size_t i) {
  return side == Buffer::send && collective == Collective::allgather
             ? 0
             : given_number(topology, side, i);
}

// One side of a call.
struct Side {
  Buffer buffer;
  const void* address;
  const std::vector<TypedBlock>& typed;
  const std::vector<Block>& blocks;

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

// Compares addresses, not buffers: a null buffer with absolute displacements is MPI_BOTTOM.
void check_addresses(const LocalTopology& topology, Collective collective, const Side& side) {
  const char* const name = side.buffer == Buffer::send ? "send" : "receive";
  for (std::size_t i = 0; i < side.blocks.size(); ++i) {
    const Block& b = side.blocks[i];
    if (b.bytes == 0) continue;
    const auto span = side.span(i);
    check_place(side.address, side.typed[i].displacement, span);
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(b.address) +
                                 static_cast<std::uintptr_t>(b.layout ? span.first : 0);
    if (first < first_page)
      fail(Errc::argument, name, " block ", number(topology, collective, side.buffer, i), " has ",
           b.bytes, " bytes, but `", side.buffer == Buffer::send ? "sendbuf" : "recvbuf",
           "` is NULL");
    if (!side.address && on_gpu(b.address))
      require_on_host(b.address,
                      text(name, " block ", number(topology, collective, side.buffer, i)).c_str());
  }
}

}  // namespace

void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding) {
  std::vector<Placed> placed;
  std::vector<Layout> whole(binding.send.size() + binding.recv.size());
  const auto add = [&](const std::vector<Block>& blocks, Buffer side) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block& b = blocks[i];
      if (b.bytes == 0) continue;
      Layout& bytes = whole[placed.size()];
      if (!b.layout) bytes.add(0, b.bytes);
      const auto named = static_cast<std::uint32_t>(number(topology, collective, side, i));
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
  check_addresses(topology, call.collective, {Buffer::send, read.sendbuf, read.send, binding.send});
  check_addresses(topology, call.collective, {Buffer::recv, read.recvbuf, read.recv, binding.recv});
  if (context.exact_sizes()) check_exact_sizes(context, call.collective, binding);
}

ReadCall read_call(Context& context, const Call& call) {
  ReadCall mine;
  read_blocks(context, call, mine);
  check_overlaps(context.topology(), call.collective, mine.arguments.binding);
  return mine;
}

}  // namespace tonari
