// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/shared_blocks.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 60;

void check_number(std::int64_t number, std::int64_t least, const char* what, int k) {
  if (number < least || number > farthest)
    fail(Errc::argument, "shape.", what, "[", k, "] is ", number, "; it must be from ", least,
         " to 2^60");
}

void read_side(const tonari_box& given, int k, const std::string& what, CellBox& box) {
  box.first[k] = given.first[k], box.end[k] = given.end[k];
  if (box.first[k] < -farthest || box.end[k] > farthest || box.first[k] >= box.end[k])
    fail(Errc::argument, what, " has cells from ", box.first[k], " to ", box.end[k],
         " (exclusive) in dimension ", k, "; it must have at least one, within 2^60");
}

CellBox read_box(const tonari_box& given, int dims, const std::string& what) {
  CellBox box;
  for (int k = 0; k < dims; ++k) read_side(given, k, what, box);
  return box;
}

void check_within(const BlockList& blocks, std::size_t b) {
  for (int k = 0; k < blocks.dims; ++k)
    if (blocks.periodic[k] && (blocks.boxes[b].first[k] < blocks.domain.first[k] ||
                               blocks.boxes[b].end[k] > blocks.domain.end[k]))
      fail(Errc::argument, "block ", b, " leaves shape.domain in dimension ", k,
           ", which is periodic; there all blocks must be within it");
}

void read_blocks(const tonari_blocks_shape& given, int ranks, BlockList& blocks) {
  if (given.count < 0)
    fail(Errc::argument, "shape.count is ", given.count, "; it must not be negative");
  if (given.count > 0 && (!given.boxes || !given.owners))
    fail(Errc::argument, given.boxes ? "shape.owners" : "shape.boxes",
         " is NULL, but shape.count is ", given.count);
  for (std::int64_t b = 0; b < given.count; ++b) {
    blocks.boxes.push_back(read_box(given.boxes[b], blocks.dims, text("block ", b)));
    blocks.owners.push_back(given.owners[b]);
    if (given.owners[b] < 0 || given.owners[b] >= ranks)
      fail(Errc::argument, "shape.owners[", b, "] is ", given.owners[b], "; ranks go from 0 to ",
           ranks - 1);
    check_within(blocks, blocks.boxes.size() - 1);
  }
}

BlocksShape read_blocks_shape(const tonari_blocks_shape& given, int ranks) {
  BlocksShape shape;
  BlockList& blocks = shape.blocks;
  if (given.dims < 1 || given.dims > most_surface_dims)
    fail(Errc::argument, "shape.dims is ", given.dims, "; it must be from 1 to ",
         most_surface_dims);
  if (std::ranges::any_of(given.reserved, [](int word) { return word != 0; }))
    fail(Errc::argument, "shape.reserved is not 0; start from TONARI_BLOCKS_SHAPE_INIT");
  if (given.fields < 0)
    fail(Errc::argument, "shape.fields is ", given.fields, "; it must be positive, or 0 for 1");
  shape.fields = std::max(given.fields, 1);
  shape.cell = read_cell_type(given.type);
  shape.order = read_order(given.order);
  blocks.dims = given.dims;
  for (int k = 0; k < given.dims; ++k) {
    check_number(given.lower[k], 0, "lower", k), check_number(given.upper[k], 0, "upper", k);
    blocks.lower[k] = given.lower[k], blocks.upper[k] = given.upper[k];
    blocks.periodic[k] = given.periodic[k] != 0;
    if (blocks.periodic[k]) read_side(given.domain, k, "shape.domain", blocks.domain);
  }
  read_blocks(given, ranks, blocks);
  return shape;
}

// What all ranks must have said alike.
std::uint64_t hash_of(const BlocksShape& shape) {
  Hash hash;
  const BlockList& blocks = shape.blocks;
  const auto add = [&](const Cells& cells) {
    for (int k = 0; k < blocks.dims; ++k) hash.word(cells[k]);
  };
  hash.word(blocks.dims).word(blocks.size()).word(shape.cell.bytes).word(shape.fields);
  hash.word(static_cast<std::uint64_t>(shape.order));
  add(blocks.lower), add(blocks.upper), add(blocks.domain.first), add(blocks.domain.end);
  for (int k = 0; k < blocks.dims; ++k) hash.word(blocks.periodic[k]);
  return hash.value();
}
std::uint64_t hash_of(const BlockList& blocks) {
  Hash hash;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    hash.word(blocks.owners[b]);
    for (int k = 0; k < blocks.dims; ++k)
      hash.word(blocks.boxes[b].first[k]).word(blocks.boxes[b].end[k]);
  }
  return hash.value();
}

// Every rank looks at its own blocks, so all are looked at.
void check_disjoint(const SharedBlocks& made) {
  for (const std::size_t b : made.own()) {
    check(GridBox{made.blocks().dims, made.blocks().box(b).own});
    strides(made.blocks().box(b), made.shape().order);  // fit
    if (const std::size_t other = made.finder().overlapping(b); other != b)
      fail(Errc::argument, "blocks ", std::min(b, other), " and ", std::max(b, other),
           " have cells in common; every cell must be in one block only");
  }
}

}  // namespace

SharedBlocks::SharedBlocks(std::shared_ptr<Context> context, BlocksShape shape)
    : context_(std::move(context)), shape_(std::move(shape)), finder_(shape_.blocks) {
  for (std::size_t b = 0; b < blocks().size(); ++b)
    if (blocks().owners[b] == context_->rank()) own_.push_back(b);
}

std::size_t SharedBlocks::array_of(std::size_t block, int field) const {
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(own_, block) - own_.begin());
  return at * static_cast<std::size_t>(shape_.fields) + static_cast<std::size_t>(field);
}

Bytes SharedBlocks::array_bytes(std::size_t block) const {
  const GridBox box = blocks().box(block);
  Bytes bytes = shape_.cell.bytes;
  for (int k = 0; k < box.dims; ++k)
    bytes *= static_cast<Bytes>(box.lower[k] + box.own[k] + box.upper[k]);
  return bytes;
}

std::unique_ptr<tonari_blocks_s> make_blocks(MPI_Comm comm, const tonari_blocks_shape* given,
                                             MPI_Info info, Output output) {
  require_intracommunicator(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  BlocksShape shape;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    check_keys(info);
    require(given, "shape");
    shape = read_blocks_shape(*given, shared->ranks());
  });
  const std::array things{
      Alike{hash_of(shape),
            "ranks gave different shapes of blocks; all members must be the same on all ranks"},
      Alike{hash_of(shape.blocks),
            "ranks gave different lists of blocks; boxes and owners must be the same on all "
            "ranks"}};
  agree_on_arguments(shared->comm(), info, wrong, things);
  std::unique_ptr<tonari_blocks_s> made;
  run_collectively(shared->comm(), [&] {
    shared->update_nodes();
    made = std::make_unique<tonari_blocks_s>(std::make_shared<Context>(shared), std::move(shape));
    check_disjoint(*made);
  });
  return made;
}

}  // namespace tonari
