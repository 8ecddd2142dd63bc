// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/report.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "engine/comm/recorded.hpp"
#include "engine/comm/write_report.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_kept = 64;
// Tables go up that many communicators, one after the other.
constexpr int most_hops = 3;

// A duplicate over which tables travel to its rank 0. Its memory is there from the beginning:
// nothing may fail on one rank while others wait for it.
struct ReportComm {
  std::shared_ptr<const OwnedComm> comm;
  int root = 0;  // its rank 0, in MPI_COMM_WORLD
  std::unique_ptr<ReportTable> out, in;
  bool of_world = true;  // false: it was made where sessions run without MPI_COMM_WORLD
};

struct Report {
  std::mutex mutex;
  std::vector<ReportComm> kept;
  std::size_t taken = 0;                // places: of those that are kept, and of those about to be
  std::atomic<bool> recording = false;  // this process, something
};

Report& report() { return lasting<Report>(); }

// ---- joining

// A place for a duplicate, while ranks decide on it.
class Place {
 public:
  Place() = default;
  ~Place() {
    const std::lock_guard lock(report().mutex);
    report().taken -= held_;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // Takes the memory, too.
  bool take() {
    const std::lock_guard lock(report().mutex);
    report().kept.reserve(most_kept);
    if (report().taken == most_kept) return false;
    ++report().taken;
    return held_ = true;
  }
  void keep(ReportComm&& kept) {
    const std::lock_guard lock(report().mutex);
    report().kept.push_back(std::move(kept));
    held_ = false;
  }

 private:
  bool held_ = false;
};

// The rank in MPI_COMM_WORLD of each rank of a communicator; MPI_UNDEFINED: it is of another.
std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  const int size = ranks_of(comm);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] = static_cast<int>(k);
  check_mpi(MPI_Comm_group(comm, &here), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check_mpi(MPI_Group_translate_ranks(here, size, ranks.data(), world, there.data()),
            "MPI_Group_translate_ranks");
  MPI_Group_free(&here), MPI_Group_free(&world);
  return there;
}

// What this rank can do: record, and keep the duplicate.
struct Contribution {
  bool records = false, keeps = false;
};

Contribution prepare(const std::shared_ptr<const OwnedComm>& duplicate, ReportComm& made,
                     Place& place) {
  if (!report_destination()) return {};
  const bool of_world = world_runs();
  const std::vector<int> world = of_world ? world_ranks(duplicate->get()) : std::vector{0};
  made = {duplicate, world.front(), std::make_unique<ReportTable>(),
          std::make_unique<ReportTable>(), of_world};
  const bool elsewhere = std::ranges::find(world, MPI_UNDEFINED) != world.end();
  return {true, !elsewhere && place.take()};
}

// Those that `wanted` says, for good. The mutex is held.
template <class Wanted>
std::vector<ReportComm> take_comms(Wanted wanted) {
  std::vector<ReportComm> taken;
  for (ReportComm& k : report().kept)
    if (wanted(k)) taken.push_back(std::move(k));
  std::erase_if(report().kept, [](const ReportComm& k) { return !k.comm; });
  return taken;
}

// ---- tables on their way

void merge_tables(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int k = 0; k < *count; ++k)
    static_cast<ReportTable*>(inout)[k].merge(static_cast<const ReportTable*>(in)[k]);
}

// The type and the operation of a reduction of tables.
class TableReduction {
 public:
  TableReduction() {
    check_mpi(MPI_Type_contiguous(sizeof(ReportTable), MPI_BYTE, &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    check_mpi(MPI_Op_create(merge_tables, 1, &op_), "MPI_Op_create");
  }
  ~TableReduction() { MPI_Op_free(&op_), MPI_Type_free(&type_); }
  TableReduction(const TableReduction&) = delete;
  TableReduction& operator=(const TableReduction&) = delete;

  MPI_Request start(const ReportComm& kept) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(
        MPI_Ireduce(kept.out.get(), kept.in.get(), 1, type_, op_, 0, kept.comm->get(), &request),
        "MPI_Ireduce");
    return request;
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

// One hop on all duplicates at once. None waits before it has begun on all: ranks have them in
// different orders. `up`: where this rank's table goes; null: it stays.
void hop(const TableReduction& reduction, std::vector<ReportComm>& kept, const ReportComm* up,
         int rank, ReportTable& table) {
  std::array<MPI_Request, most_kept> requests;
  std::size_t started = 0;
  for (ReportComm& k : kept) {
    *k.out = &k == up ? table : ReportTable();
    *k.in = ReportTable();
    requests[started++] = reduction.start(k);
  }
  call_mpi("MPI_Waitall", [&] {
    return MPI_Waitall(static_cast<int>(started), requests.data(), MPI_STATUSES_IGNORE);
  });
  if (up) table = ReportTable();
  for (const ReportComm& k : kept)
    if (k.root == rank) table.merge(*k.in);
}

// Tables go to lower and lower ranks of MPI_COMM_WORLD. Returns whether this rank's stays here.
bool gather(std::vector<ReportComm>& kept, int rank, ReportTable& table) {
  if (kept.empty()) return true;
  const ReportComm& lowest = *std::ranges::min_element(kept, {}, &ReportComm::root);
  const ReportComm* const up = lowest.root < rank ? &lowest : nullptr;
  const TableReduction reduction;
  for (int k = 0; k < most_hops; ++k) hop(reduction, kept, up, rank, table);
  return !up || !table.rows().empty();
}

}  // namespace

ReportOffer offer_report(const std::shared_ptr<const OwnedComm>& duplicate) {
  struct Offer {
    ReportComm made;
    Place place;
    Contribution contribution;
    int rank = 0;
  };
  const auto mine = std::make_shared<Offer>();
  mine->contribution = prepare(duplicate, mine->made, mine->place);
  MPI_Comm_rank(duplicate->get(), &mine->rank);
  const auto join = [mine](std::array<bool, ReportOffer::ballots> same) -> JoinedReport {
    if (!mine->contribution.records || !same[0]) return {};
    const bool keeps = mine->contribution.keeps && same[1];
    if (keeps) mine->place.keep(std::move(mine->made));
    const bool records = keeps || (mine->rank == 0 && world_runs());
    if (records) report().recording = true;
    return {true, records};
  };
  return {{mine->contribution.records, mine->contribution.keeps}, join};
}

void print_report() {
  std::vector<ReportComm> kept;
  {
    const std::lock_guard lock(report().mutex);
    if (!report().recording) return;  // then nothing is kept
    kept = take_comms([](const ReportComm& k) { return k.of_world; });
  }
  const int rank = rank_in(MPI_COMM_WORLD);
  ReportTable table = recorded_so_far();
  table.join(1);
  if (gather(kept, rank, table)) write_report(table, rank);
}

void print_report_of(MPI_Comm duplicate) {
  std::vector<ReportComm> kept;
  {
    const std::lock_guard lock(report().mutex);
    kept =
        take_comms([&](const ReportComm& k) { return !k.of_world && k.comm->get() == duplicate; });
    report().taken -= kept.size();
  }
  if (kept.empty()) return;
  const int rank = rank_in(duplicate);
  ReportTable table = take_what_is_gone();
  table.join(1);
  hop(TableReduction(), kept, rank == 0 ? nullptr : &kept.front(), rank, table);
  if (rank == 0 && !table.rows().empty()) write_report_of_session(table);
}

}  // namespace tonari
