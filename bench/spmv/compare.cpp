#include "spmv/compare.hpp"

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "count.hpp"
#include "spmv/contest.hpp"
#include "timing.hpp"

namespace bench::spmv {

namespace {

struct Entry {
  std::string name;
  std::unique_ptr<Exchange> exchange{};
  double init_seconds = 0;
  bool verified = false;
  Sent sent{};
  Spread seconds{};
};

struct Measured {
  std::vector<Entry> entries{};
  Timing timing{};
  Quiet quiet{};
};

template <class T>
T most(T mine, MPI_Datatype type, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, type, MPI_MAX, comm);
  return mine;
}

long long sum(long long mine, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG_LONG, MPI_SUM, comm);
  return mine;
}

std::vector<Entry> make_entries(Contest& contest, const Share& share, const Options& options) {
  std::vector<Entry> entries;
  for (const std::string& name : contest.names()) {
    if (!options.candidates.empty() &&
        std::find(options.candidates.begin(), options.candidates.end(), name) ==
            options.candidates.end())
      continue;
    contest.prepare(0);  // what is measured at init must not be numbers that are none
    MPI_Barrier(share.comm);
    const double start = MPI_Wtime();
    Entry entry{name, contest.make(name)};
    entry.init_seconds = most(MPI_Wtime() - start, MPI_DOUBLE, share.comm);
    if (entry.exchange) entries.push_back(std::move(entry));
  }
  return entries;
}

// Twice, so that nothing lives on what another one left.
bool verify(Exchange& exchange, Contest& contest, int generation, MPI_Comm comm) {
  int good = 1;
  for (int turn = 0; turn < 2; ++turn) {
    contest.prepare(generation + turn);
    MPI_Barrier(comm);
    exchange.run();
    good = contest.correct(generation + turn) && good;
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
  return good;
}

void time_entries(Measured& measured, Contest& contest, const Options& options, MPI_Comm comm) {
  std::vector<std::function<void()>> runs;
  for (Entry& entry : measured.entries) runs.emplace_back([&entry] { entry.exchange->run(); });
  contest.prepare(2);
  measured.quiet.before = ping_pong(comm);
  measured.timing = time_side_by_side(runs,
                                      {options.rounds, std::min(options.rounds, 10), 0,
                                       options.max_time, std::min(options.rounds, 8)},
                                      comm);
  measured.quiet.after = ping_pong(comm);
  for (std::size_t i = 0; i < measured.entries.size(); ++i)
    measured.entries[i].seconds = measured.timing.seconds[i];
}

Measured measure(Contest& contest, const Share& share, const Options& options) {
  Measured measured{make_entries(contest, share, options)};
  for (Entry& entry : measured.entries) {
    entry.verified = verify(*entry.exchange, contest, 0, share.comm);
    entry.sent = count_calls([&entry] { entry.exchange->run(); });
  }
  if (options.count) return measured;
  time_entries(measured, contest, options, share.comm);
  for (Entry& entry : measured.entries)
    entry.verified = verify(*entry.exchange, contest, 4, share.comm) && entry.verified;
  return measured;
}

// The same fields in all rows of a run.
Row describe(const std::string& kind, const Share& share) {
  Row row;
  row.text("kind", kind)
      .whole("ranks", share.ranks)
      .text("mpi", mpi_name())
      .text("mpi_version", mpi_version());
  row.whole("rows", share.size).whole("nonzeros", share.nonzeros);
  const auto ghosts = static_cast<long long>(share.ghosts.size());
  row.whole("words", sum(ghosts, share.comm))
      .whole("most_ghosts", most(ghosts, MPI_LONG_LONG, share.comm));
  const int neighbors =
      kind == "reverse" || kind == "columns" ? share.sources.size() : share.targets.size();
  row.number("avg_targets", static_cast<double>(sum(neighbors, share.comm)) / share.ranks)
      .whole("most_targets", most<long long>(neighbors, MPI_LONG_LONG, share.comm));
  return row;
}

void add_times(Row& row, const Entry& entry, const Measured& measured) {
  const Spread& s = entry.seconds;
  double native = 0, best = 0;
  for (const Entry& each : measured.entries) {
    if (!each.verified) continue;
    if (each.name == "native") native = each.seconds.median;
    if (best == 0 || each.seconds.median < best) best = each.seconds.median;
  }
  const auto ratio = [&](const char* key, double other) {
    other > 0 && entry.verified ? row.number(key, other / s.median) : row.null(key);
  };
  row.number("median_us", s.median * 1e6)
      .number("q1_us", s.q1 * 1e6)
      .number("q3_us", s.q3 * 1e6)
      .number("min_us", s.least * 1e6);
  row.number("init_us", entry.init_seconds * 1e6)
      .whole("rounds", measured.timing.rounds)
      .whole("batch", measured.timing.batch);
  ratio("ratio_native", native);
  ratio("ratio_best", best);
  row.number("pingpong_us", measured.quiet.before.median * 1e6)
      .flag("disturbed", measured.quiet.disturbed());
}

void add_messages(Row& row, const Entry& entry, MPI_Comm comm) {
  const long others = most(entry.sent.others, MPI_LONG, comm);
  const long long bytes = most(entry.sent.bytes, MPI_LONG_LONG, comm);
  if (entry.exchange->messages_seen())
    row.whole("messages", others).whole("bytes", bytes);
  else
    row.null("messages").null("bytes");
}

void compare_one(const std::string& kind, const Share& share, const Options& options,
                 Outcome& outcome) {
  if (share.rank == 0)
    std::fprintf(stderr, "tonari_bench_spmv: %s, %d ranks\n", kind.c_str(), share.ranks);
  const std::unique_ptr<Contest> contest = make_contest(kind, share, options.tune);
  const Measured measured = measure(*contest, share, options);
  for (const Entry& entry : measured.entries) {
    outcome.tonari_correct = outcome.tonari_correct && (entry.verified || !entry.exchange->ours());
    Row row = describe(kind, share);
    row.text("candidate", entry.name)
        .text("chosen", entry.exchange->chosen())
        .flag("verified", entry.verified);
    add_messages(row, entry, share.comm);
    if (!options.count) add_times(row, entry, measured);
    outcome.rows.push_back(std::move(row));
  }
}

}  // namespace

Outcome compare(const Options& options, MPI_Comm comm) {
  const Share share(options.matrix, comm);
  Outcome outcome;
  for (const std::string& kind : options.kinds) compare_one(kind, share, options, outcome);
  return outcome;
}

}  // namespace bench::spmv
