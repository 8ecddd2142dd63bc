// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench_sparse: tonari's sparse exchanges beside what programs write by hand, in one
// process.
#include <algorithm>
#include <cstdio>

#include "sparse/options.hpp"
#include "sparse/ways.hpp"

namespace bench::sparse {

namespace {

using Entry = bench::Entry<Named, Exchange>;
using Contest = Harness<Named, Exchange>;

Row describe(const Entry& entry, const Contest& all, const Workload& work) {
  Row row;
  row.text("algorithm", entry.name).text("chosen", entry.exchange->chosen());
  row.whole("ranks", work.ranks).mpi();
  row.whole("bytes", static_cast<long long>(work.words * sizeof(Word)));
  row.whole("targets", static_cast<long long>(work.targets.size()));
  row.flag("verified", entry.verified);
  all.add_times(row, entry);
  for (const char* other : {"counts", "dense", "plain-nbx"}) {
    const auto named = [&](const Entry& e) { return e.name == other && e.verified; };
    std::string key = std::string("ratio_") + other;
    std::replace(key.begin(), key.end(), '-', '_');
    row.ratio(key.c_str(), all.median(named), entry.verified ? entry.seconds.median : 0);
  }
  all.add_quiet(row);
  return row;
}

void compare_one(const Options& options, long long bytes, MPI_Comm comm, Outcome& outcome) {
  constexpr long long word = sizeof(Word);
  Workload work(comm, options.targets, static_cast<std::size_t>((bytes + word - 1) / word),
                options.seed);
  if (work.rank == 0)
    std::fprintf(stderr, "tonari_bench_sparse: %lld bytes, %d ranks\n", bytes, work.ranks);
  Contest all(comm);
  const auto delivers = [&](Exchange& exchange, int turn) {
    work.fill(turn);
    exchange.run();
    return work.delivered(exchange.arrived());
  };
  for (const std::string& name : options.algorithms)
    all.verify(*all.add({name}, [&] { return make_exchange(name, work); }), delivers);
  all.time({options.rounds, std::min(options.rounds, 10), 0, options.max_time});
  all.verify(delivers);
  all.report(outcome, [&](const Entry& entry) { return describe(entry, all, work); });
}

Outcome compare(const Options& options, MPI_Comm comm) {
  Outcome outcome;
  for (const long long bytes : options.bytes) compare_one(options, bytes, comm, outcome);
  return outcome;
}

}  // namespace
}  // namespace bench::sparse

int main(int argc, char** argv) {
  using namespace bench::sparse;
  return bench::run_comparison("tonari_bench_sparse", usage().c_str(), argc, argv, parse_options,
                               compare);
}
