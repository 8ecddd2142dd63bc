// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench_spmv: exchanges for sparse matrix-vector products, and whole products: tonari's
// vectors and alltoallv beside MPI's own and plain messages, in one process.
#include <algorithm>
#include <cstdio>

#include "spmv/contest.hpp"
#include "spmv/options.hpp"

namespace bench::spmv {

namespace {

using Entry = bench::Entry<Named, Way>;
using Measured = Harness<Named, Way>;

long long sum(long long mine, MPI_Comm comm) { return over_ranks(mine, MPI_SUM, comm); }

void make_entries(Measured& all, Contest& contest, const std::vector<std::string>& wanted) {
  for (const std::string& name : contest.names()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    contest.prepare(0);  // what is measured at init must not be numbers that are none
    all.add({name}, [&] { return contest.make(name); });
  }
}

// Solvers multiply again and again, with what a product has left in the caches.
constexpr int products_in_a_row = 8;

void measure(Measured& all, Contest& contest, const std::string& kind, const Options& options) {
  const auto verify = [&](int first) {
    return [&, first](Way& way, int turn) {
      contest.prepare(first + turn);
      MPI_Barrier(all.comm);
      way.run();
      return contest.correct(first + turn);
    };
  };
  for (Entry& entry : all.entries) {
    all.verify(entry, verify(0));
    all.count(entry);
  }
  if (options.count) return;
  contest.prepare(2);
  Effort effort{options.rounds, std::min(options.rounds, 10), 0, options.max_time,
                std::min(options.rounds, 8)};
  if (kind == "rows" || kind == "columns") effort.batch = products_in_a_row;
  all.time(effort);
  all.verify(verify(4));
}

// The same fields in all rows of a run.
Row describe(const std::string& kind, const Share& share) {
  Row row;
  row.text("kind", kind).whole("ranks", share.ranks).mpi();
  row.whole("rows", share.size).whole("nonzeros", share.nonzeros);
  const auto ghosts = static_cast<long long>(share.ghosts.size());
  row.whole("words", sum(ghosts, share.comm)).whole("most_ghosts", most(ghosts, share.comm));
  const int neighbors =
      kind == "reverse" || kind == "columns" ? share.sources.size() : share.targets.size();
  row.number("avg_targets", static_cast<double>(sum(neighbors, share.comm)) / share.ranks);
  return std::move(row.whole("most_targets", most(neighbors, share.comm)));
}

void add_times(Row& row, const Entry& entry, const Measured& all) {
  double best = 0;
  for (const Entry& each : all.entries)
    if (each.verified && (best == 0 || each.seconds.median < best)) best = each.seconds.median;
  const double native =
      all.median([](const Entry& each) { return each.verified && each.name == "native"; });
  const double mine = entry.verified ? entry.seconds.median : 0;
  all.add_times(row, entry);
  row.ratio("ratio_native", native, mine).ratio("ratio_best", best, mine);
  all.add_quiet(row);
}

void add_messages(Row& row, const Entry& entry, MPI_Comm comm) {
  const long others = most(entry.sent.others, comm);
  const long long bytes = most(entry.sent.bytes, comm);
  if (entry.exchange->inside_mpi())
    row.null("messages").null("bytes");
  else
    row.whole("messages", others).whole("bytes", bytes);
}

void compare_one(const std::string& kind, const Share& share, const Options& options,
                 Outcome& outcome) {
  if (share.rank == 0)
    std::fprintf(stderr, "tonari_bench_spmv: %s, %d ranks\n", kind.c_str(), share.ranks);
  const std::unique_ptr<Contest> contest = make_contest(kind, share, options.tune);
  Measured all(share.comm);
  make_entries(all, *contest, options.candidates);
  measure(all, *contest, kind, options);
  all.report(outcome, [&](const Entry& entry) {
    Row row = describe(kind, share);
    row.text("candidate", entry.name).text("chosen", entry.exchange->chosen());
    add_messages(row.flag("verified", entry.verified), entry, share.comm);
    if (!options.count) add_times(row, entry, all);
    return row;
  });
}

Outcome compare(const Options& options, MPI_Comm comm) {
  const Share share(options.matrix, comm);
  Outcome outcome;
  for (const std::string& kind : options.kinds) compare_one(kind, share, options, outcome);
  return outcome;
}

}  // namespace
}  // namespace bench::spmv

int main(int argc, char** argv) {
  using namespace bench::spmv;
  return bench::run_comparison("tonari_bench_spmv", usage, argc, argv, parse_options, compare);
}
