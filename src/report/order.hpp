// SPDX-License-Identifier: BSD-3-Clause
// The order in which the report prints its rows.
#pragma once

#include <algorithm>
#include <vector>

#include "report/table.hpp"

namespace tonari {

// What took longest first; folded rows come last.
inline std::vector<ReportRow> in_order(const ReportTable& table) {
  std::vector<ReportRow> rows(table.rows().begin(), table.rows().end());
  std::ranges::stable_sort(rows, [](const ReportRow& a, const ReportRow& b) {
    return a.folded != b.folded ? b.folded : a.seconds > b.seconds;
  });
  return rows;
}

}  // namespace tonari
