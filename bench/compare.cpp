// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench: tonari beside MPI's own neighborhood collectives and plain point to point, in one
// process, every result verified.
#include <cstdio>

#include "base/error.hpp"
#include "candidate.hpp"
#include "count.hpp"
#include "runs.hpp"

namespace bench {

namespace {

struct Asked : Named {
  std::optional<long> messages{}, messages_remote{};
};
using Entry = bench::Entry<Asked, Candidate>;
using Contest = Harness<Asked, Candidate>;

void count_messages(Entry& entry, const Wire& wire, const Place& place) {
  Candidate& candidate = *entry.exchange;
  Sent inside;
  MPI_Barrier(place.cart);
  const Sent calls = count_calls([&] { inside = wire.count([&] { candidate.run(); }); });
  const Sent sent = candidate.inside_mpi() ? inside : calls;
  const bool seen = !candidate.inside_mpi() || wire.sees_others();
  const bool self_seen = !candidate.inside_mpi() || wire.sees_self() || !place.sends_to_itself();
  const bool apart = !candidate.inside_mpi() || wire.tells_apart() || !place.sends_to_itself();
  const long all = most(sent.others + sent.self, place.cart);
  const long others = most(sent.others, place.cart);
  if (seen && self_seen) entry.messages = all;
  if (seen && apart) entry.messages_remote = others;
}

void add_times(Row& row, const Entry& entry, const Contest& all, int work_us) {
  const auto named = [&](const char* name) {
    return all.median([&](const Entry& each) { return each.name == name; });
  };
  const double mine = entry.seconds.median;
  all.add_times(row, entry);
  row.ratio("ratio_native", is_floor(entry.name) ? 0 : named("native"), mine)
      .ratio("floor_ratio", mine, named("floor"));
  row.whole("work_us", work_us)
      .number("odd_us", entry.seconds.odd * 1e6)
      .number("even_us", entry.seconds.even * 1e6);
  const Spread &before = all.quiet.before, &after = all.quiet.after;
  row.number("pingpong_us", before.median * 1e6).number("pingpong_p90_us", before.p90 * 1e6);
  row.number("pingpong_after_us", after.median * 1e6)
      .number("pingpong_after_p90_us", after.p90 * 1e6);
  row.flag("disturbed", all.quiet.disturbed());
}

Row describe(const Entry& entry, const Workload& work, const Options& options) {
  Row row = row_of(work.place, options, work.bytes);
  row.whole("bytes_total", most(static_cast<long>(work.total_bytes()), work.place.cart));
  row.text("requested", entry.name).text("algorithm", entry.name.substr(0, entry.name.find('/')));
  row.text("channel", entry.exchange->channel()).text("chosen", entry.exchange->chosen());
  row.text("reason", entry.exchange->reason());
  row.number("predicted_us", entry.exchange->predicted() * 1e6).maybe("messages", entry.messages);
  return std::move(
      row.maybe("messages_remote", entry.messages_remote).flag("verified", entry.verified));
}

void say(const Place& place, const Options& options, std::size_t bytes) {
  if (place.rank == 0)
    std::fprintf(stderr, "tonari_bench: %s %s, %zu bytes\n", options.pattern.c_str(),
                 name(options.operation).c_str(), bytes);
}

// Requests that choose by their starts have chosen before anything is timed.
void lead_in(const Contest& all, int exchanges) {
  for (const Entry& entry : all.entries)
    for (int i = 0; entry.name == "auto" && i < exchanges; ++i) entry.exchange->run();
}

void compare_one_size(Candidates& candidates, const Wire& wire, const Place& place,
                      const Options& options, std::size_t bytes, Outcome& outcome) {
  say(place, options, bytes);
  Workload work(place, options, bytes);
  Contest all(place.cart);
  for (const std::string& name : candidates.names())
    all.add({name}, [&] { return candidates.make(name, work); });
  const auto delivers = [&](Candidate& candidate, int) {
    candidate.prepare(work);
    MPI_Barrier(place.cart);
    candidate.run();
    return candidate.correct(work);
  };
  for (Entry& entry : all.entries) {
    all.verify(entry, delivers);
    count_messages(entry, wire, place);
  }
  if (!options.count) {
    Effort effort{options.rounds, options.warmup, options.min_time, options.max_time};
    lead_in(all, options.lead_in);
    effort.batch = options.batch, effort.work = 1e-6 * options.work;
    all.time(effort);
    all.verify(delivers);
  }
  all.report(outcome, [&](const Entry& entry) {
    Row row = describe(entry, work, options);
    if (!options.count) add_times(row, entry, all, options.work);
    return row;
  });
}

Outcome compare_exchanges(const Place& place, const Options& options) {
  Outcome outcome;
  Candidates candidates(place, options);
  const Wire wire(place.cart);
  for (const long long bytes : options.bytes)
    compare_one_size(candidates, wire, place, options, static_cast<std::size_t>(bytes), outcome);
  return outcome;
}

Outcome compare(const Options& options, MPI_Comm) {
  const Place place(options);
  return options.setup ? time_setup(place, options) : compare_exchanges(place, options);
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_comparison("tonari_bench", bench::usage().c_str(), argc, argv,
                               bench::parse_options, bench::compare);
}
