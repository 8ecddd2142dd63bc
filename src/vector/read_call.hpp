// SPDX-License-Identifier: BSD-3-Clause
// Reads what the program says about its values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "request/agree_on_arguments.hpp"
#include "vector/call.hpp"
#include "vector/pattern.hpp"
#include "vector/value_work.hpp"

namespace tonari {

struct VectorValues {
  std::vector<ValueField> fields;    // in the order in which a message has them
  std::vector<std::size_t> numbers;  // theirs in the program's list
  // what ranks compare: of all fields
  std::uint64_t widths = 0, vectors = 0, reductions = 0;
  bool in_place = false;  // owned values and ghosts have places in common
};

// Where they differ between ranks.
inline constexpr const char* different_widths =
    "ranks gave types or components of different sizes; the values of an index must have the same "
    "number of bytes on all ranks";
inline constexpr const char* different_vectors =
    "ranks gave different numbers of vectors; it must be the same number on all ranks";
inline constexpr const char* different_reductions =
    "ranks gave different operations or types of numbers; they must be the same on all ranks";

// What of a pattern tells where values lie: the rest of it is empty.
VectorPattern places_of(const VectorPattern& pattern);
// Throws Errc::buffers if owned values and ghosts overlap.
void check_apart(const VectorPattern& places, const ValueField& field);

// Later versions give reserved members a meaning; this one refuses what it does not know.
bool reserved_is_zero(const tonari_vector_field& field);

// Throws Errc::argument, Errc::overflow, Errc::buffers. Local.
VectorValues read_values(const VectorPattern& pattern, const VectorCall& call);

// What of them ranks compare.
std::array<Alike, 5> alike(Direction direction, const VectorValues& values);

}  // namespace tonari
