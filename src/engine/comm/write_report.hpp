// SPDX-License-Identifier: BSD-3-Clause
// Where the report goes, as TONARI_REPORT says.
#pragma once

#include <optional>
#include <string>

#include "report/table.hpp"

namespace tonari {

// The name of a file; empty: standard error. Nothing: no report is wanted.
std::optional<std::string> report_destination();

// The file for reports of other ranks than rank 0 of MPI_COMM_WORLD, which are separate:
// report.json becomes report.3.json. Pure.
std::string with_rank(const std::string& file, int rank);

// In one piece, as JSON if the file's name ends in .json. Where it cannot be written, a sentence on
// standard error says so.
void write_report(const ReportTable& table, int rank);

// The same where there is no MPI_COMM_WORLD: the rank is that which the launcher has told. Later
// reports of a process are separate, too: report.json, then report.0.2.json.
void write_report_of_session(const ReportTable& table);

}  // namespace tonari
