// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/checked.hpp"

namespace bench {

namespace {

constexpr unsigned char poison_value = 255;

// Differs with the rank and the place in the send buffer, so with block and element; never the
// poison.
unsigned char payload(int rank, std::size_t position) {
  std::uint64_t z = (static_cast<std::uint64_t>(rank) << 40) + position + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<unsigned char>((z ^ (z >> 31)) % poison_value);
}

MPI_Datatype make_type(const Strided& block) {
  MPI_Datatype type;
  MPI_Type_contiguous(tonari::checked_cast<int>(block.element, "a row of a block"), MPI_BYTE,
                      &type);
  for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) {
    MPI_Datatype finer = type;
    MPI_Type_create_hvector(tonari::checked_cast<int>(step->count, "a block"), 1,
                            static_cast<MPI_Aint>(step->stride), finer, &type);
    MPI_Type_free(&finer);
  }
  MPI_Type_commit(&type);
  return type;
}

Arguments make_arguments(const std::vector<Strided>& blocks) {
  Arguments arguments;
  for (const Strided& block : blocks) {
    const bool plain = block.contiguous();
    arguments.counts.push_back(plain ? tonari::checked_cast<int>(block.element, "a block") : 1);
    arguments.displs.push_back(tonari::checked_cast<int>(block.offset, "a displacement"));
    arguments.offsets.push_back(static_cast<MPI_Aint>(block.offset));
    arguments.types.push_back(plain ? MPI_BYTE : make_type(block));
  }
  return arguments;
}

void free_types(Arguments& arguments) {
  for (MPI_Datatype& type : arguments.types)
    if (type != MPI_BYTE) MPI_Type_free(&type);
}

// The data that the rank `of` of a place sends and receives.
Blocks blocks_of(const Place& place, int of, const Options& options, std::size_t bytes) {
  if (place.graph.empty())
    return place_blocks(place.pattern, options.operation, options.layout, bytes);
  return place_graph_blocks(place.graph, of, options.operation, options.layout, bytes);
}

}  // namespace

Workload::Workload(const Place& where, const Options& options, std::size_t block_bytes)
    : place(where),
      operation(options.operation),
      bytes(block_bytes),
      blocks_(blocks_of(where, where.rank, options, block_bytes)) {
  send_ = allocate(blocks_.send_bytes);
  recv_ = blocks_.one_array ? send_ : allocate(blocks_.recv_bytes);
  send_arguments_ = make_arguments(blocks_.send);
  recv_arguments_ = make_arguments(blocks_.recv);

  initial(place.rank, expected_send_, initial_recv_);
  expected_recv_ = initial_recv_;
  for (std::size_t j = 0; j < place.sources.size(); ++j) {
    if (place.sources[j] == MPI_PROC_NULL) continue;
    const Blocks theirs =
        place.graph.empty() ? blocks_ : blocks_of(where, place.sources[j], options, block_bytes);
    const auto from = theirs.send[theirs.send.size() == 1 ? 0 : place.origins[j]].offsets();
    const auto to = blocks_.recv[j].offsets();
    for (std::size_t k = 0; k < to.size(); ++k)
      expected_recv_[to[k]] = payload(place.sources[j], from.at(k));
  }
  if (!blocks_.one_array) initial_recv_ = {};
  poison();
}

Workload::~Workload() {
  free_types(send_arguments_);
  free_types(recv_arguments_);
  if (recv_ != send_) std::free(recv_);
  std::free(send_);
}

unsigned char* Workload::allocate(std::size_t size) {
  void* memory = std::aligned_alloc(4096, (size / 4096 + 1) * 4096);
  if (!memory) throw std::bad_alloc();
  return static_cast<unsigned char*>(memory);
}

// In one array the ghost cells are poisoned and the rest is payload: sent blocks are cells of the
// interior.
void Workload::initial(int rank, std::vector<unsigned char>& send,
                       std::vector<unsigned char>& recv) const {
  send.resize(blocks_.send_bytes);
  for (std::size_t k = 0; k < send.size(); ++k) send[k] = payload(rank, k);
  if (!blocks_.one_array) {
    recv.assign(blocks_.recv_bytes, poison_value);
    return;
  }
  recv = send;
  for (const Strided& block : blocks_.recv)
    for (const std::size_t k : block.offsets()) recv[k] = poison_value;
}

std::size_t Workload::total_bytes() const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < place.targets.size(); ++i)
    if (place.targets[i] != MPI_PROC_NULL)
      total += blocks_.send[blocks_.send.size() == 1 ? 0 : i].bytes();
  return total;
}

void Workload::poison() {
  std::memcpy(send_, expected_send_.data(), expected_send_.size());
  if (blocks_.one_array)
    std::memcpy(recv_, initial_recv_.data(), initial_recv_.size());
  else
    std::memset(recv_, poison_value, blocks_.recv_bytes);
}

bool Workload::correct() const {
  const bool received = std::memcmp(recv_, expected_recv_.data(), expected_recv_.size()) == 0;
  return received && sent_unchanged();
}

// In one array the blocks that are sent are part of what was received.
bool Workload::sent_unchanged() const {
  return blocks_.one_array || std::memcmp(send_, expected_send_.data(), expected_send_.size()) == 0;
}

bool Workload::correct(const std::vector<const void*>& at) const {
  bool good = sent_unchanged();
  for (std::size_t j = 0; j < at.size(); ++j)
    good = good && (place.sources[j] == MPI_PROC_NULL || block_correct(j, at[j]));
  return good;
}

bool Workload::block_correct(std::size_t block, const void* at) const {
  const unsigned char* const begin = static_cast<const unsigned char*>(at);
  const std::size_t first = blocks_.recv[block].offset;
  const std::vector<std::size_t> offsets = blocks_.recv[block].offsets();
  for (std::size_t k = 0; k < offsets.size(); ++k)
    if (begin[begin == recv_ + first ? offsets[k] - first : k] != expected_recv_[offsets[k]])
      return false;
  return true;
}

}  // namespace bench
