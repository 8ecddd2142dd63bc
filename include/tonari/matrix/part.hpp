// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a sparse matrix. Part of matrix_file.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tonari {
inline namespace api0 {

// Square, by rows.
struct [[nodiscard]] MatrixPart {
  std::int64_t size = 0;  // N
  std::int64_t first = 0, owned = 0;
  std::vector<std::int64_t> begin{0}, columns;  // begin: from 0
  std::vector<double> values;
  std::optional<std::vector<double>> b;

  // Of the own rows; entries that are there twice are added.
  std::vector<double> diagonal() const {
    std::vector<double> diagonal(static_cast<std::size_t>(owned));
    for (std::size_t r = 0; r < diagonal.size(); ++r)
      for (auto k = static_cast<std::size_t>(begin[r]); k < static_cast<std::size_t>(begin[r + 1]);
           ++k)
        if (columns[k] == first + static_cast<std::int64_t>(r)) diagonal[r] += values[k];
    return diagonal;
  }
};

}  // namespace api0
}  // namespace tonari
