// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a symmetric in-place exchange as the program gives them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "channels/swap.hpp"
#include "neighborhood/call.hpp"

namespace tonari {

// Block j for rank j, on rank `rank` of as many as `ranks`. Throws Errc::argument (null, negative),
// Errc::buffers (blocks, or elements of one, share a byte), Errc::overflow, Errc::mpi. What is kept
// takes memory for one element of each type; only blocks whose spans interleave are looked at
// element by element.
std::vector<SwapBlock> read_swap_blocks(const BufferArguments& given, std::size_t ranks, int rank);

// ---- of both kinds of exchanges in place

void check_buffer(const BufferArguments& given);
void check_displacements(const char* prefix, const BufferArguments& given, std::size_t ranks);

// Whether some of `count` elements, each extent bytes after the last (all of them fit: span_of),
// share a byte, or one has a byte twice.
bool elements_overlap(const Layout& element, std::ptrdiff_t extent, std::uint64_t count);

}  // namespace tonari
