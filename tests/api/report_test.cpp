// SPDX-License-Identifier: BSD-3-Clause
// The report at MPI_Finalize (TONARI_REPORT): what it tells, of whom, and that it never keeps a
// program from its end.
#include "api/report.hpp"

#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/group.h>
#include <tonari/sparse.h>
#include <tonari/vector.h>

#include <chrono>
#include <thread>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/turn_clock.hpp"

namespace {

using namespace tonari::test;
using Row = ReportJob::Row;
using std::to_string;

double number(const Row& row, const char* field) {
  return row.contains(field) ? std::stod(row.at(field)) : -1;
}

void free_and_forget(tonari_request request) { EXPECT_OK(tonari_request_free(&request)); }

// ---- what it tells

// Whatever the program calls its exchanges: requests, one of them not freed, and one-shot calls.
class KindsOfExchange {
 public:
  explicit KindsOfExchange(int ranks) : ranks_(ranks), ring_(MPI_COMM_WORLD) {
    neighborhoods(), vectors(), grids(), groups(), blocks(), sparse(), in_place();
  }

 private:
  static constexpr int one = 1;
  static constexpr MPI_Aint start_of_buffer = 0;

  void neighborhoods() {
    const tonari_request request = ring_.init();
    start(request, 40);
    free_and_forget(request);
    start(ring_.init(), 3);  // one that is not freed; it is like the other
    int* const out = ring_.out.data();
    int* const in = ring_.in.data();
    for (int k = 0; k < 5; ++k)
      EXPECT_OK(tonari_alltoallv(out, &one, &start_of_buffer, MPI_INT, in, &one, &start_of_buffer,
                                 MPI_INT, ring_.near));
    tonari_request two[2] = {};
    EXPECT_OK(tonari_ialltoallv(out, &one, &start_of_buffer, MPI_INT, in, &one, &start_of_buffer,
                                MPI_INT, ring_.near, &two[0]));
    EXPECT_OK(tonari_iallgather(out, 1, MPI_INT, in + 4, 1, MPI_INT, ring_.near, &two[1]));
    EXPECT_OK(tonari_waitall(2, two));
    for (const tonari_request started : two) free_and_forget(started);
  }
  void vectors() {
    const std::int64_t next = (world_rank() + 1) % ranks_;
    tonari_vector vector = TONARI_VECTOR_NULL;
    EXPECT_OK(
        tonari_vector_create(MPI_COMM_WORLD, world_rank(), 1, 1, &next, MPI_INFO_NULL, &vector));
    double owned = 1, ghost = 0;
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_vector_forward_init(vector, nullptr, &owned, &ghost, off_, &request));
    start(request, 4);
    free_and_forget(request);
    for (int k = 0; k < 3; ++k) EXPECT_OK(tonari_vector_forward(vector, nullptr, &owned, &ghost));
    EXPECT_OK(tonari_vector_reverse(vector, nullptr, MPI_SUM, &ghost, &owned));
    EXPECT_OK(tonari_vector_free(&vector));
  }
  void grids() {
    const int periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks_, &periodic, 0, &ring);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.type = MPI_DOUBLE, shape.lower[0] = shape.upper[0] = 2;
    shape.cells[0] = 16 * ranks_;
    tonari_grid grid = TONARI_GRID_NULL;
    EXPECT_OK(tonari_grid_create(ring, &shape, nullptr, MPI_INFO_NULL, &grid));
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_grid_exchange_init(grid, 0, off_, &request));
    start(request, 2);
    free_and_forget(request);
    for (int k = 0; k < 3; ++k) EXPECT_OK(tonari_grid_forward(grid, 0, nullptr));
    EXPECT_OK(tonari_grid_free(&grid));
    MPI_Comm_free(&ring);
  }
  void groups() {
    Ring other(MPI_COMM_WORLD);
    EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
    for (Ring* ring : {&ring_, &other})
      EXPECT_OK(tonari_alltoall_init(ring->out.data(), 8, MPI_INT, ring->in.data(), 8, MPI_INT,
                                     ring->near, MPI_INFO_NULL, nullptr));
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_group_end(off_, &request));
    start(request, 6);
    free_and_forget(request);
  }
  void blocks() {
    std::vector<tonari_box> boxes(static_cast<std::size_t>(ranks_));
    std::vector<int> owners(boxes.size());
    for (int r = 0; r < ranks_; ++r) {
      boxes[static_cast<std::size_t>(r)].first[0] = 4 * r;
      boxes[static_cast<std::size_t>(r)].end[0] = 4 * r + 4;
      owners[static_cast<std::size_t>(r)] = r;
    }
    tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;
    shape.dims = 1, shape.count = ranks_, shape.type = MPI_DOUBLE;
    shape.boxes = boxes.data(), shape.owners = owners.data();
    shape.lower[0] = shape.upper[0] = 1;
    tonari_blocks blocks = TONARI_BLOCKS_NULL;
    EXPECT_OK(tonari_blocks_create(MPI_COMM_WORLD, &shape, MPI_INFO_NULL, &blocks));
    double cells[6] = {};
    void* const arrays[] = {cells};
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_blocks_forward_init(blocks, arrays, nullptr, off_, &request));
    start(request, 2);
    free_and_forget(request);
    EXPECT_OK(tonari_blocks_forward(blocks, arrays, nullptr));
    EXPECT_OK(tonari_blocks_free(&blocks));
  }
  void sparse() {
    const int next = (world_rank() + 1) % ranks_;
    const MPI_Count count = 1;
    tonari_messages messages = TONARI_MESSAGES_NULL;
    for (int k = 0; k < 3; ++k) {
      EXPECT_OK(tonari_sparse_alltoallv(1, &next, &count, nullptr, MPI_INT, ring_.out.data(),
                                        MPI_COMM_WORLD, MPI_INFO_NULL, &messages));
      EXPECT_OK(tonari_messages_free(&messages));
    }
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_sparse_ialltoallv(1, &next, &count, nullptr, MPI_INT, ring_.out.data(),
                                       MPI_COMM_WORLD, MPI_INFO_NULL, &messages, &request));
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_messages_free(&messages));
    free_and_forget(request);
  }
  void in_place() {
    std::vector<int> words(static_cast<std::size_t>(ranks_));
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(
        tonari_alltoall_inplace_init(words.data(), 1, MPI_INT, MPI_COMM_WORLD, off_, &request));
    start(request, 2);
    free_and_forget(request);
    for (int k = 0; k < 2; ++k)
      EXPECT_OK(tonari_alltoall_inplace(words.data(), 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL));
  }

  int ranks_;
  Info off_{{"tonari_tune", "off"}};
  Ring ring_;
};

void expect_row(const ReportJob& job, const char* kind, const char* operation, int starts,
                int messages, int bytes) {
  SCOPED_TRACE(std::string(kind) + ": " + operation);
  const Row row = job.row_with({{"kind", kind}, {"operation", operation}});
  EXPECT_EQ(number(row, "starts"), starts);
  EXPECT_EQ(number(row, "ranks"), job.ranks);
  EXPECT_EQ(number(row, "processes"), job.ranks);
  EXPECT_EQ(number(row, "messages"), messages);
  EXPECT_EQ(number(row, "bytes"), bytes);
  EXPECT_EQ(number(row, "all_messages"), job.ranks * starts * messages);
  EXPECT_EQ(number(row, "all_bytes"), job.ranks * starts * bytes);
  EXPECT_GT(number(row, "seconds"), 0);
  EXPECT_NE(row.at("algorithm"), "");
}

TEST(Report, TellsOfEveryKindOfExchange) {
  ReportJob job;
  {
    const KindsOfExchange kinds(job.ranks);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  if (job.rank > 0) return;
  expect_row(job, "requests", "alltoall", 43, 1, 32);
  const Row both = job.row_with({{"kind", "requests"}, {"operation", "alltoall"}});
  EXPECT_EQ(number(both, "requests"), 2);
  EXPECT_EQ(both.at("reason"), "fixed rule");
  EXPECT_EQ(both.at("what"), "alltoall with 1 neighbors, 32 bytes per block");
  expect_row(job, "calls", "alltoallv", 6, 1, 4);
  expect_row(job, "calls", "allgather", 1, 1, 4);
  expect_row(job, "requests", "vector forward", 4, 1, 8);
  expect_row(job, "calls", "vector forward", 3, 1, 8);
  expect_row(job, "calls", "vector reverse", 1, 1, 8);
  const int sides = job.ranks == 2 ? 1 : 2;  // both neighbors may be one rank
  for (const char* kind : {"requests", "calls"}) {
    const int starts = std::string(kind) == "calls" ? 3 : 2;
    const Row halo = job.row_with({{"kind", kind}, {"operation", "halo"}});
    EXPECT_EQ(number(halo, "starts"), starts);
    EXPECT_EQ(number(halo, "bytes"), 32);
    EXPECT_EQ(number(halo, "all_bytes"), job.ranks * starts * 32);
  }
  expect_row(job, "requests", "group", 6, 1, 64);
  // the outermost blocks have one neighbor
  const Row blocks = job.row_with({{"kind", "requests"}, {"operation", "blocks"}});
  EXPECT_EQ(number(blocks, "starts"), 2);
  EXPECT_EQ(number(blocks, "bytes"), 8 * sides);
  EXPECT_EQ(number(blocks, "all_bytes"), 2 * 8 * 2 * (job.ranks - 1));
  EXPECT_EQ(number(job.row_with({{"kind", "calls"}, {"operation", "blocks"}}), "starts"), 1);
  EXPECT_EQ(number(job.row_with({{"kind", "requests"}, {"operation", "in-place all-to-all"}}),
                   "all_bytes"),
            2 * 4 * job.ranks * (job.ranks - 1));
  EXPECT_EQ(
      number(job.row_with({{"kind", "calls"}, {"operation", "in-place all-to-all"}}), "starts"), 2);
  double sparse = 0;
  for (const Row& row : job.rows())
    if (row.at("operation") == "sparse exchange") sparse += number(row, "all_messages");
  EXPECT_EQ(sparse, 4 * job.ranks);
}

TEST(Report, SaysHowNativeIsKnown) {
  ReportJob job;
  {
    const FreshWisdom wisdom("0.05");
    Ring small(MPI_COMM_WORLD), large(MPI_COMM_WORLD, 3000);
    const tonari_request online = small.init("online"), measured = large.init("auto");
    start(online, 3), start(measured, 5);
    free_and_forget(online), free_and_forget(measured);
  }
  job.finalize();
  if (job.rank > 0) return;
  const Row online = job.row_with({{"what", "alltoall with 1 neighbors, 32 bytes per block"}});
  EXPECT_EQ(online.at("reason"), "online, undecided");
  EXPECT_EQ(online.at("native_source"), "modeled");
  EXPECT_GT(number(online, "native_ratio"), 0);
  const Row measured = job.row_with({{"what", "alltoall with 1 neighbors, 12000 bytes per block"}});
  EXPECT_EQ(measured.at("native_source"), "measured");
  EXPECT_GT(number(measured, "init_seconds"), 0.01);
  if (number(measured, "native_ratio") > 1)
    EXPECT_GT(number(measured, "break_even"), 0);
  else
    EXPECT_EQ(measured.at("break_even"), "null");
  EXPECT_EQ(measured.at("break_even_reached"), "false") << "five starts do not pay for a contest";
}

// The second request tries what the first one did not, and that wins.
TEST(Report, KnowsNativeWhereSomethingIsTriedLater) {
  ReportJob job;
  if (job.ranks == 1) GTEST_SKIP() << "nothing to choose from";
  {
    const FreshWisdom wisdom("0.02");
    const TurnClock clock(TurnClock::Goes::each_look);  // the report looks at it, too
    for (const bool second : {false, true}) {
      Ring ring(MPI_COMM_WORLD);
      const tonari_request request = ring.init("online");
      for (int round = 0; round < 330; ++round) {
        TurnClock::next(second ? TurnClock::where_second_wins(round) : 1e-6);
        start(request, 1);
      }
      free_and_forget(request);
    }
  }
  job.finalize();
  if (job.rank > 0) return;
  EXPECT_EQ(job.row_with({{"algorithm", "native"}}).at("native_source"), "modeled");
}

TEST(Report, TimesAreThoseOfTheSlowestRank) {
  ReportJob job;
  {
    Ring ring(MPI_COMM_WORLD);
    const tonari_request request = ring.init();
    start(request, 1);
    for (int k = 0; k < 3; ++k) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (job.rank == job.ranks - 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      start(request, 1);
    }
    free_and_forget(request);
  }
  job.finalize();
  if (job.rank > 0) return;
  const Row row = job.row_with({});
  EXPECT_EQ(number(row, "timed_starts"), 4);
  // of 0.3 s: on a busy machine they may begin to wait late
  EXPECT_GT(number(row, "seconds"), 0.1) << "rank 0 has waited";
  EXPECT_LT(number(row, "seconds"), 600) << "these are no milliseconds";
  EXPECT_NEAR(number(row, "seconds_per_start"), number(row, "seconds") / 4, 1e-9);
}

// ---- how much it tells

TEST(Report, TellsOfCallsThatOutliveTheirNeighborhood) {
  ReportJob job;
  {
    Ring ring(MPI_COMM_WORLD);
    tonari_request request = TONARI_REQUEST_NULL;
    for (int k = 0; k < 2; ++k) {
      EXPECT_OK(tonari_ialltoall(ring.out.data(), 1, MPI_INT, ring.in.data(), 1, MPI_INT, ring.near,
                                 &request));
      if (k == 1) {
        EXPECT_OK(tonari_neighborhood_free(&ring.near));
      }
      const std::vector<std::vector<int>> others(100, std::vector<int>(100, -1));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(ring.in[0], 100 * ((job.rank + job.ranks - 1) % job.ranks)) << others.size();
      free_and_forget(request);
    }
  }
  job.finalize();
  if (job.rank > 0) return;
  const Row row = job.row_with({});
  EXPECT_EQ(number(row, "starts"), 2);
  EXPECT_EQ(number(row, "timed_starts"), 2);
}

TEST(Report, FoldsRequestsThatAreAlikeAndThenThoseOfAnOperation) {
  ReportJob job;
  for (int k = 0; k < 50; ++k) {
    Ring ring(MPI_COMM_WORLD);
    const tonari_request request = ring.init();
    start(request, 2);
    free_and_forget(request);
  }
  for (int words = 100; words < 140; ++words) {
    Ring ring(MPI_COMM_WORLD, words);
    const tonari_request request = ring.init();
    start(request, 1);
    free_and_forget(request);
  }
  job.finalize();
  if (job.rank > 0) return;
  ASSERT_EQ(job.rows().size(), 33u);
  const Row alike = job.row_with({{"what", "alltoall with 1 neighbors, 32 bytes per block"}});
  EXPECT_EQ(number(alike, "requests"), 50);
  EXPECT_EQ(number(alike, "starts"), 100);
  EXPECT_EQ(number(alike, "all_bytes"), 100 * 32 * job.ranks);
  const Row rest = job.row_with({{"folded", "true"}});
  EXPECT_EQ(rest.at("operation"), "alltoall");
  EXPECT_EQ(number(rest, "requests"), 40 - 31);
  EXPECT_EQ(number(rest, "processes"), job.ranks);
  EXPECT_EQ(number(rest, "bytes"), 139 * 4);
  EXPECT_EQ(job.rows().back().at("folded"), "true");
}

TEST(Report, RecordingTakesNoMemoryFromStartToWait) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer allocates";
  ReportJob job;
  {
    Ring ring(MPI_COMM_WORLD);
    const tonari_request request = ring.init();
    const auto call = [&] {
      EXPECT_OK(
          tonari_alltoall(ring.out.data(), 8, MPI_INT, ring.in.data(), 8, MPI_INT, ring.near));
    };
    start(request, 3), call();
    arm();
    start(request, 100);
    for (int k = 0; k < 100; ++k) call();
    EXPECT_EQ(disarm().allocations, 0);
    free_and_forget(request);
  }
  job.finalize();
  if (job.rank == 0) {
    EXPECT_EQ(job.rows().size(), 2u);
  }
}

// ---- where it goes

TEST(Report, GoesToStandardErrorOfOneRank) {
  ReportJob job("1");
  {
    Ring ring(MPI_COMM_WORLD);
    start(ring.init(), 5);
  }
  job.finalize();
  if (job.rank > 0) {
    EXPECT_EQ(job.errors, "");
    return;
  }
  EXPECT_TRUE(job.errors.starts_with("tonari: report of " + to_string(job.ranks) + " ranks\n"))
      << job.errors;
  EXPECT_CONTAINS(job.errors, "\nalltoall with 1 neighbors, 32 bytes per block, " +
                                  to_string(job.ranks) + " ranks\n  ");
  EXPECT_CONTAINS(job.errors, "\nrequests   starts ");
  EXPECT_TRUE(job.errors.ends_with('\n'));
  EXPECT_EQ(job.errors.find("other"), std::string::npos) << "nothing was folded";
}

TEST(Report, IsTextInAFileOfAnotherName) {
  ReportJob job("report.txt");
  {
    Ring ring(MPI_COMM_WORLD);
    start(ring.init(), 5);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  if (job.rank > 0) return;
  EXPECT_TRUE(job.read("report.txt").starts_with("tonari: report of "));
}

TEST(Report, SaysInOneSentenceThatItCannotBeWritten) {
  ReportJob job("no/such/folder.json");
  {
    Ring ring(MPI_COMM_WORLD);
    start(ring.init(), 1);
  }
  job.finalize();
  const std::string file = job.path("no/such/folder.json");
  EXPECT_EQ(job.errors, job.rank > 0 ? ""
                                     : "tonari: warning: the report cannot be written to " + file +
                                           " (No such file or directory)\n");
}

TEST(Report, IsNotPrintedUnlessAllRanksWantIt) {
  ReportJob job;
  if (job.rank > 0) unsetenv("TONARI_REPORT");
  {
    Ring ring(MPI_COMM_WORLD);
    start(ring.init(), 1);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  EXPECT_FALSE(job.exists("report.json"));
}

TEST(Report, ZeroMeansNone) {
  ReportJob job("0");
  {
    Ring ring(MPI_COMM_WORLD);
    start(ring.init(), 1);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  EXPECT_FALSE(job.exists("0"));
}

// ---- communicators

MPI_Comm ranks_between(int first, int last) {
  MPI_Comm comm = MPI_COMM_NULL;
  const bool in = world_rank() >= first && world_rank() <= last;
  MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, world_rank(), &comm);
  return comm;
}

// {0, 1}, {1, 2}, ...: tables go down from rank to rank. The communicators are never freed.
TEST(Report, TablesTravelOverCommunicatorsThatOverlap) {
  ReportJob job;
  for (int r = 0; r + 1 < job.ranks; ++r) {
    const MPI_Comm pair = ranks_between(r, r + 1);
    if (pair == MPI_COMM_NULL) continue;
    Ring ring(pair, 10 + r);
    start(ring.init(), 1 + r);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  if (job.rank > 0) return;
  const int hops = std::min(job.ranks - 1, 3);
  for (int r = 0; r < hops; ++r) {
    const Row row = job.row_with(
        {{"what", "alltoall with 1 neighbors, " + to_string(4 * (10 + r)) + " bytes per block"}});
    EXPECT_EQ(number(row, "starts"), 1 + r);
    EXPECT_EQ(number(row, "ranks"), 2);
    EXPECT_EQ(number(row, "processes"), 2);
  }
}

// The last rank never calls tonari; the first has a report of its own.
TEST(Report, RanksThatShareNothingAreNotWaitedFor) {
  ReportJob job;
  const int last = job.ranks - 2;
  const MPI_Comm some = ranks_between(last > 0 ? 1 : 0, last);
  if (some != MPI_COMM_NULL || job.rank == 0) {
    Ring ring(some == MPI_COMM_NULL ? MPI_COMM_SELF : some);
    start(ring.init(), 4 + (job.rank > 0));
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  if (job.rank > 0) return;
  EXPECT_EQ(number(job.row_with({}), "starts"), 4);
  EXPECT_EQ(job.exists("report.1.json"), last > 0);
  if (last > 0) {
    ASSERT_EQ(job.rows("report.1.json").size(), 1u);
    EXPECT_EQ(number(job.rows("report.1.json")[0], "starts"), 5);
  }
}

// What is freed, and when, each rank decides for itself.
TEST(Report, CommunicatorsMayBeFreedBefore) {
  ReportJob job;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  {
    Ring ring(comm);
    const tonari_request request = ring.init();
    MPI_Comm_free(&comm);
    start(request, 2);
    if (job.rank == 0) free_and_forget(request);
  }
  job.finalize();
  EXPECT_EQ(job.errors, "");
  if (job.rank > 0) return;
  const Row row = job.row_with({});
  EXPECT_EQ(number(row, "starts"), 2);
  EXPECT_EQ(number(row, "processes"), job.ranks);
}

// More than are kept: of those rank 0 tells what it did itself.
TEST(Report, ManyCommunicatorsAreNotAllKept) {
  ReportJob job;
  constexpr int kept = 64, all = 67;
  for (int k = 0; k < all; ++k) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
      Ring ring(comm);
      const tonari_request request = ring.init();
      start(request, 1);
      free_and_forget(request);
    }
    MPI_Comm_free(&comm);
  }
  job.finalize();
  if (job.rank > 0) return;
  const Row row = job.row_with({});
  EXPECT_EQ(number(row, "requests"), all);
  EXPECT_EQ(number(row, "processes"), job.ranks);
  EXPECT_EQ(number(row, "all_messages"), kept * job.ranks + all - kept);
}

}  // namespace
