// SPDX-License-Identifier: BSD-3-Clause
#include "sides.hpp"

#include <algorithm>

namespace conformance {
namespace {

constexpr int most_pairs = 3, regular_pairs = 2;
constexpr MPI_Aint room = 256, lead = 64;  // bytes of a block with what lies around it, and before
constexpr std::size_t word = sizeof(std::int64_t);

std::size_t words_of(MPI_Aint bytes) { return static_cast<std::size_t>(bytes) / word; }

}  // namespace

int Exchange::blocks(bool receives) const {
  if (receives) return static_cast<int>(edges->sources.size());
  return gathers(call.operation) ? 1 : static_cast<int>(edges->targets.size());
}

int Exchange::pairs(int rank, int block) const {
  if (data == Data::empty) return 0;
  if (is_regular(call.operation)) return regular_pairs;
  if (rank == MPI_PROC_NULL) return 1;
  if (gathers(call.operation)) return (rank + variant) % (most_pairs + 1);
  // in place both ranks of a pair have as many for each other
  const int step = data == Data::in_place ? 1 : 2;
  return (rank + step * block + variant) % (most_pairs + 1);
}

Arguments in_place() {
  Arguments none;
  none.buffer = MPI_IN_PLACE;
  none.type = MPI_DATATYPE_NULL;
  return none;
}

Side::Side(const Exchange& exchange, bool receives, Types& types)
    : exchange_(exchange), receives_(receives), shapes_(shapes_of(exchange.data, receives)) {
  const int blocks = exchange.blocks(receives);
  words_.resize(words_of(2 * lead + room * blocks));
  if (exchange.data == Data::bottom)
    arguments.buffer = MPI_BOTTOM;
  else if (exchange.data != Data::empty)
    arguments.buffer = words_.data() + words_of(lead);
  reserve_one();
  arguments.type = types.make(shapes_[0], exchange.data == Data::bottom ? origin() : 0);
  arguments.count = 2 * exchange.pairs(exchange.edges->rank, 0) / shapes_[0].elements();
  for (int k = 0; k < blocks; ++k) add(k, types);
}

// Some MPIs refuse null for an array without elements, which MPI does not say it may be.
void Side::reserve_one() {
  arguments.counts.reserve(1), arguments.displacements.reserve(1), arguments.types.reserve(1);
  arguments.large_counts.reserve(1), arguments.large_displacements.reserve(1);
}

// The address that the MPI's offsets count from.
MPI_Aint Side::origin() const {
  MPI_Aint address = 0;
  MPI_Get_address(words_.data() + words_of(lead), &address);
  return address;
}

const Shape& Side::shape_of(int block) const {
  const bool differ = exchange_.call.operation == Operation::alltoallw;
  return shapes_[differ ? static_cast<std::size_t>(block) % shapes_.size() : 0];
}

Side::Block Side::block_of(int index) const {
  const Edges& e = *exchange_.edges;
  if (!receives_) return {e.rank, index, {}};
  const auto j = static_cast<std::size_t>(index);
  return {e.sources[j], gathers(exchange_.call.operation) ? 0 : e.blocks[j], {}};
}

// Regular blocks lie side by side. Others have room around them, and are received in reverse.
MPI_Aint Side::bytes_to(int index) const {
  if (is_regular(exchange_.call.operation))
    return index * (2 * regular_pairs / shapes_[0].elements()) * shapes_[0].extent;
  const int place = receives_ ? exchange_.blocks(true) - 1 - index : index;
  if (exchange_.call.operation == Operation::alltoallw) return place * room;
  return place * (2 * most_pairs / shapes_[0].elements() + 1) * shapes_[0].extent;
}

void Side::add(int index, Types& types) {
  const Shape& shape = shape_of(index);
  Block block = block_of(index);
  const int instances = 2 * exchange_.pairs(block.rank, block.number) / shape.elements();
  const MPI_Aint at = bytes_to(index);
  for (int i = 0; i < instances; ++i)
    for (const MPI_Aint offset : shape.offsets)
      block.places.push_back(words_of(lead + at + i * shape.extent + offset));
  describe(index, instances, at, types);
  blocks_.push_back(std::move(block));
}

// With MPI_BOTTOM either displacements are addresses, where they have the room, or types have them.
void Side::describe(int index, int instances, MPI_Aint at, Types& types) {
  const bool bytes = exchange_.call.operation == Operation::alltoallw;
  const bool wide = bytes && (exchange_.call.neighbors || exchange_.call.large);
  const MPI_Aint from = exchange_.data == Data::bottom ? origin() : 0;
  const MPI_Aint displacement = bytes ? at : at / shapes_[0].extent;
  arguments.counts.push_back(instances);
  arguments.displacements.push_back(static_cast<int>(displacement));
  arguments.large_counts.push_back(instances);
  arguments.large_displacements.push_back(displacement + (wide ? from : 0));
  arguments.types.push_back(bytes ? types.make(shape_of(index), wide ? 0 : from) : arguments.type);
}

// Before an exchange a rank's own blocks are there, after it those that it receives.
std::vector<std::int64_t> Side::image(int round, bool before) const {
  std::vector<std::int64_t> words(words_.size(), untouched);
  const bool own = exchange_.data == Data::in_place && before;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (block.rank == MPI_PROC_NULL || (receives_ && before && !own)) continue;
    const int rank = own ? exchange_.edges->rank : block.rank;
    const int number = own ? static_cast<int>(b) : block.number;
    for (std::size_t k = 0; k < block.places.size(); ++k)
      words[block.places[k]] = payload({rank, number, static_cast<int>(k), round});
  }
  return words;
}

void Side::fill(int round) {
  const std::vector<std::int64_t> words = image(round, true);
  std::copy(words.begin(), words.end(), words_.begin());  // where they lie the MPI knows
}

std::string Side::mismatch(std::size_t at, std::int64_t should, int round) const {
  std::string where = "where no block lies";
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t k = 0; k < blocks_[b].places.size(); ++k)
      if (blocks_[b].places[k] == at)
        where = "as element " + std::to_string(k) + " of block " + std::to_string(b);
  return "rank " + std::to_string(exchange_.edges->rank) +
         (receives_ ? " has received " : " finds its send buffer changed, with ") +
         described(words_[at], round) + " " + where + ", not " + described(should, round);
}

std::string Side::wrong(int round) const {
  const std::vector<std::int64_t> should = image(round, false);
  for (std::size_t k = 0; k < should.size(); ++k)
    if (words_[k] != should[k]) return mismatch(k, should[k], round);
  return {};
}

}  // namespace conformance
