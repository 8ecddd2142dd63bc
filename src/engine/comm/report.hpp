// SPDX-License-Identifier: BSD-3-Clause
// The report that TONARI_REPORT asks for: which communicators take part, and how the tables of
// their ranks become one when the program calls MPI_Finalize (docs/adr/0025-report.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

// What ranks agree on for a communicator.
struct JoinedReport {
  bool reports = false;  // the same on all ranks: all of them want a report
  bool records = false;  // this one records what is done
};

// Before ranks agree: what this one can do, and all memory for it.
struct ReportOffer {
  static constexpr std::size_t ballots = 2;
  std::array<std::uint64_t, ballots> says{};
  // Local; nothing fails in it. same: whether all ranks say the same.
  std::function<JoinedReport(std::array<bool, ballots> same)> join;
};
// Local. If all ranks want a report, it keeps the duplicate until MPI_Finalize, so that tables can
// travel over it whatever the program has freed by then. Where too many are kept already, or a rank
// is of another MPI_COMM_WORLD, only rank 0 records, for its own part.
ReportOffer offer_report(const std::shared_ptr<const OwnedComm>& duplicate);

// Collective over the ranks of all kept duplicates, first thing in MPI_Finalize: one rank prints
// what all have recorded. Where no chain of communicators leads from rank to rank, there are
// several reports. Frees the duplicates.
void print_report();

// Collective on the duplicate, where sessions run without MPI_Finalize, when the program frees the
// communicator that it is of. If it reports, its rank 0 prints what all ranks have recorded since
// the last report. Requests that live are told of later, or not at all.
void print_report_of(MPI_Comm duplicate);

}  // namespace tonari
