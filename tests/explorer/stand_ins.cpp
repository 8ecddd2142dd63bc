// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of the operating system and of the MPI where the library is explored: memory
// of all ranks, whether a rank lives, and the memory of others.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "channels/node.hpp"
#include "explorer/scenarios.hpp"
#include "memory/process.hpp"
#include "memory/segment.hpp"

namespace tonari {

// ---- segments: their number is their address. Nothing is unmapped: the mapping has no bytes.

Segment Segment::create(std::size_t bytes) {
  Segment made;
  made.bytes_ = bytes;
  std::byte* const at = explorer::shared_memory(reserved + bytes);
  made.mapping_ = Mapping(at, 0);
  const auto number = reinterpret_cast<std::uintptr_t>(at);
  std::memcpy(at, &number, sizeof number);
  return made;
}

Segment Segment::attach(const SegmentName& name, Pages) {
  Segment made;
  made.bytes_ = name.bytes;
  made.mapping_ = Mapping(reinterpret_cast<std::byte*>(name.number), 0);
  return made;
}

void Segment::bring(std::size_t, std::size_t) const {}

SegmentName Segment::name() const {
  SegmentName name{0, 0, bytes_, 0};
  std::memcpy(&name.number, mapping_.data(), sizeof name.number);
  return name;
}

// ---- processes: their numbers are the ranks'

bool in_forked_child() { return false; }
Watch::Watch(std::int64_t process) : process_(process) {}
Watch::~Watch() {}
bool Watch::ended() const { return explorer::explored_ended(static_cast<std::size_t>(process_)); }

namespace {

void copy(const Piece& to, const Piece& from) {
  auto* const there = reinterpret_cast<std::byte*>(to.address);
  auto* const here = reinterpret_cast<std::byte*>(from.address);
  if (!explorer::blocks_may_change) {
    std::memcpy(there, here, from.bytes);
    return;
  }
  for (std::size_t k = 0; k < from.bytes; k += sizeof(std::uint64_t)) {
    const std::uint64_t word = std::atomic_ref(*reinterpret_cast<std::uint64_t*>(here + k))
                                   .load(std::memory_order_relaxed);
    std::memcpy(there + k, &word, sizeof word);
  }
}

}  // namespace

// In calls of this library the lists have pieces of equal lengths.
int read_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from) {
  if (explorer::explored_ended(static_cast<std::size_t>(process))) return ESRCH;
  for (std::size_t k = 0; k < to.size(); ++k) copy(to[k], from[k]);
  return 0;
}
int write_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from) {
  return read_process(process, to, from);
}

// ---- the node has ranks 0 to 2

Node::Node(MPI_Comm, std::int32_t rank, const std::function<void()>&) {
  for (std::int32_t k = 0; k < 3; ++k) {
    ranks_.push_back(k);
    processes_.push_back(k);
    watches_.push_back(k == rank ? nullptr : std::make_shared<const Watch>(k));
  }
}

std::size_t Node::index(std::int32_t rank) const { return static_cast<std::size_t>(rank); }

}  // namespace tonari
