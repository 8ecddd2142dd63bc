// SPDX-License-Identifier: BSD-3-Clause
// The arguments of one operation in one form, and the blocks of memory that they describe.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "copy/moves.hpp"
#include "memory/address_span.hpp"
#include "plan/plan.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

enum class Form : std::uint8_t { regular, v, w };

// What a block lies in: memory that stays, or one of the program's buffers, which a start may
// replace (Exchange::rebind).
using SpaceId = std::uint32_t;
inline constexpr SpaceId fixed_space = 0, send_space = 1, recv_space = 2;
// How far each space has moved, by its number; that of fixed_space is 0.
using Shifts = std::span<const std::ptrdiff_t>;

struct TypedBlock {
  MPI_Aint displacement = 0;  // bytes from the buffer's address
  MPI_Count count = 0;
  MPI_Datatype type = MPI_BYTE;
  SpaceId space = fixed_space;
};

// A block as bytes: contiguous (layout null) or spread out.
struct Block {
  // of the first byte if contiguous, else the base of the layout
  std::byte* address = nullptr;
  const Layout* layout = nullptr;  // owned by the binding
  Bytes bytes = 0;
  SpaceId space = fixed_space;
};

// Tells where a plan's blocks lie on this rank, and how long they are.
struct Binding {
  std::vector<Block> send, recv;
  // Sizes of blocks that this rank forwards. `forwarded` has one for each scratch block of the plan
  // to be bound. If it is empty, scratch block k has the size uniform[scratch_like[k]], since block
  // i has the same size on all ranks that have it. An allgather has one entry.
  std::vector<Bytes> uniform, forwarded;
  std::vector<std::shared_ptr<const Layout>> layouts;

  Bytes bytes(Slice s, std::span<const std::uint32_t> scratch_like) const {
    if (s.buffer == Buffer::scratch)
      return forwarded.empty() ? uniform[scratch_like[s.block]] : forwarded[s.block];
    return s.buffer == Buffer::send ? send[s.block].bytes : recv[s.block].bytes;
  }
};

struct Arguments {
  Collective collective = Collective::alltoall;
  Form form = Form::regular;
  const void* sendbuf = nullptr;
  void* recvbuf = nullptr;
  std::vector<TypedBlock> send = {};  // all-to-all: a block for each target; allgather: one
  std::vector<TypedBlock> recv = {};  // a block from each source
  bool types_of_bytes = false;        // on all ranks, the types are made of MPI_BYTE only
  Binding binding = {};               // the same blocks as bytes, once they are bound

  // Reads the datatypes. Throws Errc::overflow or Errc::mpi. Sizes of forwarded blocks stay.
  void bind();
};

// Throws Errc::overflow if a block is beyond all addresses. Its bytes lie from span.first to
// span.second, counted from the displacement.
void check_place(const void* buffer, MPI_Aint displacement,
                 std::pair<std::ptrdiff_t, std::ptrdiff_t> span);

// What a block touches; it is not empty.
AddressSpan span_of(const Block& block);

inline std::ptrdiff_t distance(const void* from, const void* to) {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) -
                                     reinterpret_cast<std::uintptr_t>(from));
}

// Appends its bytes to a layout that counts from `origin`.
inline void add(Layout& layout, const Block& block, const void* origin) {
  const std::ptrdiff_t at = distance(origin, block.address);
  if (block.layout)
    layout.add(*block.layout, at);
  else
    layout.add(at, block.bytes);
}

// No program has data below.
inline constexpr std::uintptr_t first_page = 4096;

inline std::byte* moved(const std::byte* address, std::ptrdiff_t by) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(by));
}

}  // namespace tonari
