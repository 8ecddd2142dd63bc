// SPDX-License-Identifier: BSD-3-Clause
// The loops over all coordinates of a neighborhood, as fast as they come from memory where the
// processor has AVX2. They do the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tonari {

struct CoordinateLoops {
  // Writes the lowest byte of each coordinate, and returns whether all fit into a signed byte.
  bool (*narrow)(const int* from, std::size_t count, std::int8_t* to);
  // A number that is equal for equal bytes.
  std::uint64_t (*hash)(std::string_view bytes);
};

// Of any processor, in the language alone.
const CoordinateLoops& plain_loops();
// With AVX2; null where the processor has none.
const CoordinateLoops* wide_loops();
// Those that are used here.
const CoordinateLoops& coordinate_loops();

}  // namespace tonari
