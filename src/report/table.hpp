// SPDX-License-Identifier: BSD-3-Clause
// The rows of the report, of one rank or of many, in bounded memory: a program may make any number
// of requests. Plain memory that takes no other, so that an MPI can reduce tables. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "report/row.hpp"

namespace tonari {

class ReportTable {
 public:
  // Rows of their own. What comes later and is unlike them all is folded by operation.
  static constexpr std::size_t most_kinds = 32, most_folded = 16;
  static constexpr std::size_t most_rows = most_kinds + most_folded;

  void add(const ReportRow& row);         // of the same rank
  void merge(const ReportTable& others);  // of other ranks

  std::span<const ReportRow> rows() const { return std::span(rows_).first(size_); }
  std::uint64_t processes() const { return processes_; }  // whose rows are in it
  void join(std::uint64_t processes) { processes_ += processes; }

 private:
  ReportRow* find(const ReportRow& row);
  ReportRow& place_for(const ReportRow& row);
  ReportRow& place_of_folded(const ReportRow& row);
  ReportRow& append(const ReportRow& row);

  std::array<ReportRow, most_rows> rows_{};
  std::size_t size_ = 0, kinds_ = 0;
  std::uint64_t processes_ = 0;
};
static_assert(std::is_trivially_copyable_v<ReportTable>);

}  // namespace tonari
