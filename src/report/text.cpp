// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/classic.hpp"
#include "base/error.hpp"
#include "report/order.hpp"
#include "report/print.hpp"

namespace tonari {
namespace {

// Three digits, such as 0.0123, 4.56 or 789; longer numbers are whole.
std::string digits(double value) {
  Classic<std::ostringstream> out;
  const double size = std::abs(value);
  if (size >= 99.95)
    out << std::fixed << std::setprecision(0) << value;
  else
    out << std::setprecision(3) << value;
  return out.str();
}

std::string scaled(double value, double base, const std::array<const char*, 6>& units) {
  std::size_t unit = 0;
  for (; value >= base * 10 && unit + 1 < units.size(); ++unit) value /= base;
  return digits(std::round(value * 10) / 10) + units[unit];
}

std::string count(std::uint64_t number) {
  if (number < 1000000) return std::to_string(number);
  return scaled(static_cast<double>(number), 1000, {"", "k", "M", "G", "T", "P"});
}
std::string bytes(std::uint64_t number) {
  return scaled(static_cast<double>(number), 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string paid_after(const ReportRow& row) {
  const BreakEven even = row.break_even();
  if (even.when == BreakEven::When::unknown) return "";
  if (even.when == BreakEven::When::never) return "; init never pays";
  return text("; paid after ", count(static_cast<std::uint64_t>(even.starts)),
              " starts: ", even.reached ? "yes" : "not yet");
}

struct Column {
  const char* title;
  int width;
  std::string (*cell)(const ReportRow&);
};

constexpr Column columns[] = {
    {"requests", 8,
     [](const ReportRow& row) { return row.one_shot ? "calls" : count(row.requests); }},
    {"starts", 9, [](const ReportRow& row) { return count(row.starts); }},
    {"seconds", 9, [](const ReportRow& row) { return digits(row.seconds); }},
    {"us/start", 9, [](const ReportRow& row) { return digits(row.seconds_per_start() * 1e6); }},
    {"init", 10, [](const ReportRow& row) { return digits(row.init); }},
    {"lost", 10, [](const ReportRow& row) { return digits(row.lost); }},
    {"messages", 10, [](const ReportRow& row) { return count(row.messages); }},
    {"bytes", 9, [](const ReportRow& row) { return bytes(row.bytes); }},
    {"all messages", 14, [](const ReportRow& row) { return count(row.all_messages); }},
    {"all bytes", 11, [](const ReportRow& row) { return bytes(row.all_bytes); }},
};

void print(std::ostream& out, std::string (*cell)(const Column&, const ReportRow*),
           const ReportRow* row) {
  for (const Column& column : columns) out << std::setw(column.width) << cell(column, row);
  out << '\n';
}

// torus-direct/p2p-packed (measured); native takes 1.3 times as long (measured); ...
std::string chosen(const ReportRow& row) {
  std::string all(row.algorithm.view());
  for (const std::string_view part : {row.variant.view(), row.channel.view()})
    if (!part.empty()) all += text("/", part);
  all = text("  ", all.empty() ? "-" : all);
  if (!row.reason.empty()) all += text(" (", row.reason.view(), ")");
  if (row.ratio() > 0)
    all += text("; native takes ", digits(row.ratio()), " times as long (", name(row.times.source),
                ")");
  all += paid_after(row);
  if (!row.no_faster.empty())
    all += text("\n  no faster way between GPUs, because ", row.no_faster.view());
  return all;
}

std::string ranks_of(const ReportRow& row) {
  const auto all = static_cast<std::uint64_t>(row.ranks);
  if (row.folded || all == row.processes)
    return text(row.processes, row.processes == 1 ? " rank" : " ranks");
  return text(row.processes, row.processes == 1 ? " rank" : " ranks", ", of communicators of ",
              row.ranks);
}

constexpr const char* explanation =
    "seconds in start, test and wait (an estimate from some of the starts), in init, and lost "
    "to\n"
    "tuning: of the slowest rank. messages and bytes: the most that a rank sends in one exchange; "
    "all:\n"
    "by all ranks in all starts. native: MPI's own collective. paid after: starts of a request "
    "that "
    "make\n"
    "up for init and tuning.\n";

bool any_folded(const std::vector<ReportRow>& rows) {
  return std::ranges::any_of(rows, &ReportRow::folded);
}

}  // namespace

std::string text_of(const ReportTable& table) {
  const std::vector<ReportRow> rows = in_order(table);
  Classic<std::ostringstream> out;
  out << "tonari: report of " << table.processes() << (table.processes() == 1 ? " rank" : " ranks")
      << (rows.empty() ? ", which exchanged nothing\n" : "\n");
  if (rows.empty()) return out.str();
  print(
      out, [](const Column& column, const ReportRow*) { return std::string(column.title); },
      nullptr);
  for (const ReportRow& row : rows) {
    out << (row.folded ? "other " : "") << row.what.view() << ", " << ranks_of(row) << '\n'
        << chosen(row) << '\n';
    print(out, [](const Column& column, const ReportRow* of) { return column.cell(*of); }, &row);
  }
  out << explanation;
  if (any_folded(rows))
    out << "other: requests and calls of more than " << ReportTable::most_kinds
        << " kinds are folded into one row for each operation.\n";
  return out.str();
}

}  // namespace tonari
