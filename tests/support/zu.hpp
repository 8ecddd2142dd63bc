// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tonari {

// What counts cells, as an index of a container.
constexpr std::size_t zu(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace tonari
