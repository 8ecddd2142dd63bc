// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/read_call.hpp"

#include <algorithm>
#include <map>

#include "mpi/datatype.hpp"
#include "request/buffer.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

struct Shape {
  std::shared_ptr<const Layout> element;
  MPI_Aint extent = 0;
};

// One element of each type.
class Shapes {
 public:
  const Shape& of(MPI_Datatype type) {
    Shape& shape = shapes_[type];
    if (shape.element) return shape;
    shape.extent = extent_of(type).length;
    shape.element = std::make_shared<const Layout>(flatten(1, type));
    return shape;
  }

 private:
  std::map<MPI_Datatype, Shape> shapes_;
};

// A block, and what has to be known of it to check it.
struct Read {
  SwapBlock block;
  std::uint64_t count = 0;  // of elements
  std::size_t number = 0;

  std::uintptr_t base() const { return reinterpret_cast<std::uintptr_t>(block.address); }
  Layout whole() const {
    Layout all;
    if (block.contiguous())
      all.add(0, block.bytes);
    else
      for (std::uint64_t k = 0; k < count; ++k)
        all.add(*block.element, block.extent * static_cast<std::ptrdiff_t>(k));
    return all;
  }
};

// Elements of one piece each become one contiguous block, or one element of many pieces.
Read read_block(const void* buffer, const TypedBlock& typed, const Shape& shape,
                std::size_t number) {
  Read read{{}, static_cast<std::uint64_t>(typed.count), number};
  const Layout& element = *shape.element;
  if (element.bytes() == 0 || typed.count == 0) return read;
  check_place(buffer, typed.displacement, span_of(element, typed.count, shape.extent));
  read.block.bytes = element.bytes() * static_cast<Bytes>(typed.count);
  // Through integers: the buffer may be MPI_BOTTOM.
  auto address =
      reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(typed.displacement);
  read.block.element = shape.element;
  read.block.extent = shape.extent;
  if (element.contiguous()) {
    const Run piece = element.runs()[0];
    if (typed.count == 1 || static_cast<std::size_t>(shape.extent) == piece.length) {
      address += static_cast<std::uintptr_t>(piece.offset);
      read.block.element = nullptr;
    } else if (shape.extent != 0) {
      auto pieces = std::make_shared<Layout>();
      pieces->add(
          Run{piece.offset, piece.length, shape.extent, static_cast<std::size_t>(typed.count)});
      read.block.element = std::move(pieces);
      read.count = 1;
    }
  }
  read.block.address = reinterpret_cast<std::byte*>(address);
  return read;
}

void check_addresses(const std::vector<Read>& blocks) {
  for (const Read& read : blocks)
    if (read.block.bytes > 0 && read.block.span().low < first_page)
      fail(Errc::argument, "block ", read.number, " has ", read.block.bytes,
           " bytes, but `buf` is NULL");
}

// Whether some of `count` elements, each extent bytes after the last (all of them fit: span_of),
// share a byte, or one has a byte twice. Only elements that are near enough to reach each other
// matter, and all places are alike.
bool elements_overlap(const Layout& element, std::ptrdiff_t extent, std::uint64_t count) {
  if (count < 2) return overlaps_itself(element);
  if (extent == 0) return true;
  const auto [low, high] = element.span();
  const std::uint64_t length = static_cast<std::uint64_t>(high - low),
                      step = extent < 0 ? -static_cast<std::uint64_t>(extent)
                                        : static_cast<std::uint64_t>(extent);
  const std::uint64_t reach = length / step + (length % step != 0);
  Layout near;
  for (std::uint64_t k = 0; k < std::min(count, reach); ++k)
    near.add(element, extent * static_cast<std::ptrdiff_t>(k));
  return overlaps_itself(near);
}

void check_elements(const std::vector<Read>& blocks, int rank) {
  for (const Read& read : blocks)
    if (!read.block.contiguous() && read.block.bytes > 0 &&
        elements_overlap(*read.block.element, read.block.extent, read.count))
      fail(Errc::buffers, "on rank ", rank, " the datatype of block ", read.number,
           " has elements that overlap each other");
}

// Blocks whose spans hang together may still share no byte (columns of one array).
void check_interleaving(std::span<const Read* const> blocks, int rank) {
  if (blocks.size() < 2) return;
  std::vector<Layout> whole;
  for (const Read* read : blocks) whole.push_back(read->whole());
  std::vector<Placed> placed;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    placed.push_back(
        {blocks[k]->base(), &whole[k], static_cast<std::uint32_t>(blocks[k]->number), true});
  Overlap overlap;
  if (!find_overlap(placed, overlap)) return;
  const auto [first, second] =
      std::minmax(placed[overlap.first].block, placed[overlap.second].block);
  fail(Errc::buffers, "on rank ", rank, " blocks ", first, " and ", second,
       " overlap; in place each block is sent and received, and must share no byte with another");
}

void check_overlaps(const std::vector<Read>& blocks, int rank) {
  std::vector<const Read*> order;
  for (const Read& read : blocks)
    if (read.block.bytes > 0) order.push_back(&read);
  std::ranges::sort(order, {}, [](const Read* read) { return read->block.span(); });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::uintptr_t high = order[begin]->block.span().high;
    for (end = begin + 1; end < order.size() && order[end]->block.span().low < high; ++end)
      high = std::max(high, order[end]->block.span().high);
    check_interleaving(std::span(order).subspan(begin, end - begin), rank);
  }
}

void check_buffer(const BufferArguments& given) {
  require_usable(given.buffer, "buf");
  if (given.buffer == MPI_IN_PLACE)
    fail(Errc::argument, "`buf` is MPI_IN_PLACE; give the buffer itself");
}

void check_displacements(const char* prefix, const BufferArguments& given, std::size_t ranks) {
  if (!given.displacements) return;  // missing where they are needed: said when they are read
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.displacements[j] < 0)
      fail(Errc::argument, "`", prefix, "displs[", j, "]` is ", given.displacements[j],
           "; in place they are counted from buf and must not be negative");
}

// ---- symmetric

// The block for the rank itself does not move, but must not overlap another, as in MPI.
std::vector<SwapBlock> read_swap_blocks(const BufferArguments& given, std::size_t ranks, int rank) {
  check_buffer(given);
  check_displacements("", given, ranks);
  Shapes shapes;
  std::vector<Read> blocks;
  for (const TypedBlock& typed : typed_blocks("", ranks, given))
    blocks.push_back(read_block(given.buffer, typed, shapes.of(typed.type), blocks.size()));
  check_addresses(blocks);
  check_elements(blocks, rank);
  check_overlaps(blocks, rank);
  std::vector<SwapBlock> read;
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    read.push_back(std::move(blocks[j].block));
    read.back().peer = static_cast<std::int32_t>(j);
  }
  return read;
}

// ---- general

// In units of the type's extent from buf.
struct BlockRegion {
  std::int64_t first, count;
  std::size_t peer;
};

void check_regions(const char* side, const BufferArguments& given, std::size_t ranks, int rank) {
  std::vector<BlockRegion> regions;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0) regions.push_back({given.displacements[j], given.counts[j], j});
  std::ranges::sort(regions, {}, &BlockRegion::first);
  for (std::size_t k = 1; k < regions.size(); ++k)
    // both not negative: it fits
    if (regions[k].first - regions[k - 1].first < regions[k - 1].count)
      fail(Errc::buffers, "on rank ", rank, " ", side, " blocks ", regions[k - 1].peer, " and ",
           regions[k].peer, " overlap each other");
}

std::int64_t slots_end(const BufferArguments& given, std::size_t ranks) {
  std::int64_t end = 0;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0)
      end = std::max<std::int64_t>(
          end, checked_add<std::int64_t>(given.displacements[j], given.counts[j], "displacement"));
  return end;
}

}  // namespace

Settings read_in_place(const InPlaceCall& call) {
  Settings settings = read_settings(call.info, where::in_place);
  if (settings.any_channel())
    settings.channel = "auto";
  else
    settings.channel = settings.channel.starts_with("shared") ? "shared" : "p2p-packed";
  settings.tune = at_init(settings.tune);
  if (!call.general) return settings;
  constexpr const Setting& order = setting("TONARI_INPLACE_ALGORITHM");
  if (const auto key = value_of(call.info, order); key && *key != "auto")
    fail(Errc::algorithm, name_of(order), " is '", *key,
         "', an order of symmetric swaps; leave it out of the general exchange");
  settings.inplace_algorithm = "auto";
  return settings;
}

SwapProblem read_symmetric(const InPlaceCall& call, Use use, const Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks());
  SwapProblem problem{read_swap_blocks(call.blocks, ranks, context.rank())};
  if (use == Use::one_shot) return problem;
  problem.typed = {const_cast<void*>(call.blocks.buffer), typed_blocks("", ranks, call.blocks),
                   call.blocks.form == Form::regular};
  return problem;
}

GeneralProblem read_general(const InPlaceCall& call, const Context& context) {
  const BufferArguments &send = call.send, &recv = call.blocks;
  const auto ranks = static_cast<std::size_t>(context.ranks());
  check_buffer(send);
  if (send.type == MPI_DATATYPE_NULL) fail(Errc::argument, "`type` is MPI_DATATYPE_NULL");
  // null arrays, negative counts
  typed_blocks("send", ranks, send), typed_blocks("recv", ranks, recv);
  check_displacements("send", send, ranks), check_displacements("recv", recv, ranks);
  check_regions("send", send, ranks, context.rank()),
      check_regions("receive", recv, ranks, context.rank());
  GeneralProblem problem;
  const std::ptrdiff_t extent = extent_of(send.type).length;
  problem.element = std::make_shared<const Layout>(flatten(1, send.type));
  problem.extent = extent;
  const std::int64_t slots = std::max(slots_end(send, ranks), slots_end(recv, ranks));
  if (slots > 0 && problem.element->bytes() > 0) {
    if (!send.buffer) fail(Errc::argument, "`buf` is NULL, but there are elements to move");
    if (extent <= 0)
      fail(Errc::argument, "the extent of the type is ", extent,
           " bytes; displacements in units of it need a positive one");
    check_place(send.buffer, 0, span_of(*problem.element, slots, extent));
    if (elements_overlap(*problem.element, extent, static_cast<std::uint64_t>(slots)))
      fail(Errc::buffers, "on rank ", context.rank(),
           " elements of the datatype overlap each other");
  }
  problem.base = static_cast<std::byte*>(const_cast<void*>(send.buffer));
  for (std::size_t j = 0; j < ranks; ++j) {
    const bool moves = problem.element->bytes() > 0;
    problem.send_counts.push_back(moves ? static_cast<std::uint64_t>(send.counts[j]) : 0);
    problem.recv_counts.push_back(moves ? static_cast<std::uint64_t>(recv.counts[j]) : 0);
    problem.send_displs.push_back(send.displacements[j]);
    problem.recv_displs.push_back(recv.displacements[j]);
  }
  return problem;
}

}  // namespace tonari
