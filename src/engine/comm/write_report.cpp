// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/write_report.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "memory/launched_ranks.hpp"
#include "memory/shared_file.hpp"
#include "report/print.hpp"

namespace tonari {
namespace {

// Unbuffered, so it is one write: whole lines, whatever other processes print.
void say(const std::string& all) { std::fwrite(all.data(), 1, all.size(), stderr); }

// Returns an errno.
int write_file(const std::string& name, const std::string& all) {
  std::FILE* const file = std::fopen(name.c_str(), "w");
  if (!file) return errno;
  const bool written = std::fwrite(all.data(), 1, all.size(), file) == all.size();
  const int error = written ? 0 : errno;
  return std::fclose(file) == 0 ? error : errno;
}

}  // namespace

std::optional<std::string> report_destination() {
  std::optional<std::string> wanted = in_environment(setting("TONARI_REPORT"));
  if (wanted == "0") return std::nullopt;
  if (wanted == "1") wanted->clear();
  return wanted;
}

std::string with_rank(const std::string& file, int rank) {
  const std::size_t name = file.rfind('/') + 1, dot = file.rfind('.');  // npos + 1 is 0
  const std::size_t end = dot == std::string::npos || dot <= name ? file.size() : dot;
  return text(file.substr(0, end), ".", rank, file.substr(end));
}

namespace {

// name(file): of those that the user has asked for.
template <class Name>
void write(const ReportTable& table, Name name) {
  const std::optional<std::string> wanted = report_destination();
  if (!wanted) return;  // it was, once
  if (wanted->empty()) return say(text_of(table));
  const std::string file = name(*wanted);
  const int error = write_file(file, file.ends_with(".json") ? json_of(table) : text_of(table));
  if (error)
    say(text("tonari: warning: the report cannot be written to ", file, " (", system_reason(error),
             ")\n"));
}

}  // namespace

void write_report(const ReportTable& table, int rank) {
  write(table, [&](const std::string& file) { return rank == 0 ? file : with_rank(file, rank); });
}

void write_report_of_session(const ReportTable& table) {
  static std::atomic<int> written{0};
  const int rank = launched_rank(), number = ++written;
  write(table, [&](const std::string& file) {
    if (number > 1) return with_rank(with_rank(file, rank), number);
    return rank == 0 ? file : with_rank(file, rank);
  });
}

}  // namespace tonari
