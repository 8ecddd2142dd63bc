// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/read_call.hpp"

#include <algorithm>
#include <map>

#include "mpi/datatype.hpp"
#include "mpi/mpi_error.hpp"
#include "request/buffer.hpp"

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
    MPI_Aint low = 0;
    check_mpi(MPI_Type_get_extent(type, &low, &shape.extent), "MPI_Type_get_extent");
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

}  // namespace

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

// Only elements that are near enough to reach each other matter, and all places are alike.
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

// The block for the rank itself does not move, but must not overlap another, as in MPI.
std::vector<SwapBlock> read_swap_blocks(const BufferArguments& given, std::size_t ranks, int rank) {
  check_buffer(given);
  check_displacements("", given, ranks);
  Shapes shapes;
  std::vector<Read> blocks;
  for (const TypedBlock& typed : read_blocks("", ranks, given))
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

}  // namespace tonari
