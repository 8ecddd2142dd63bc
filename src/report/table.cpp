// SPDX-License-Identifier: BSD-3-Clause
#include "report/table.hpp"

#include <string_view>
#include <utility>

namespace tonari {
namespace {

constexpr std::string_view several = "several";

// A row for what has no row of its own: `operation` is all that it tells.
ReportRow folded_row(const ReportRow& row, std::string_view operation) {
  ReportRow all;
  all.one_shot = row.one_shot, all.folded = true, all.processes = 0;
  all.operation = operation, all.what = operation;
  all.algorithm = several;
  return all;
}

// What tells it from others, without its numbers.
ReportRow nothing_yet(const ReportRow& row) {
  ReportRow clean;
  clean.one_shot = row.one_shot, clean.folded = row.folded, clean.ranks = row.ranks;
  clean.operation = row.operation, clean.what = row.what, clean.algorithm = row.algorithm;
  clean.variant = row.variant, clean.channel = row.channel, clean.reason = row.reason;
  clean.processes = 0;
  return clean;
}

}  // namespace

ReportRow* ReportTable::find(const ReportRow& row) {
  for (std::size_t k = 0; k < size_; ++k)
    if (rows_[k].alike(row)) return &rows_[k];
  return nullptr;
}

ReportRow& ReportTable::append(const ReportRow& row) {
  rows_[size_] = nothing_yet(row);
  kinds_ += !row.folded;
  return rows_[size_++];
}

ReportRow& ReportTable::place_for(const ReportRow& row) {
  if (ReportRow* const known = find(row)) return *known;
  if (!row.folded && kinds_ < most_kinds) return append(row);
  return place_of_folded(row);
}

ReportRow& ReportTable::place_of_folded(const ReportRow& row) {
  const ReportRow all = folded_row(row, row.operation.view());
  if (ReportRow* const known = find(all)) return *known;
  constexpr std::size_t for_the_rest = 2;  // one for calls, one for requests
  if (size_ - kinds_ < most_folded - for_the_rest) return append(all);
  const ReportRow rest = folded_row(row, row.one_shot ? "calls" : "requests");
  ReportRow* const known = find(rest);
  return known ? *known : append(rest);
}

void ReportTable::add(const ReportRow& row) {
  ReportRow& place = place_for(row);
  place.processes = 1;
  place.add(row);
}

// Several rows of theirs may have one place here. They belong to the same ranks, so they are added
// up before.
void ReportTable::merge(const ReportTable& others) {
  std::array<ReportRow, most_rows> sums;
  std::array<bool, most_rows> any{};
  for (const ReportRow& row : others.rows()) {
    const std::size_t k = static_cast<std::size_t>(&place_for(row) - rows_.data());
    if (std::exchange(any[k], true)) {
      sums[k].add(row);
      sums[k].processes = std::max(sums[k].processes, row.processes);
    } else {
      sums[k] = row;
    }
  }
  for (std::size_t k = 0; k < size_; ++k)
    if (any[k]) rows_[k].merge(sums[k]);
  processes_ += others.processes_;
}

}  // namespace tonari
