#include <cstdio>

#include "base/error.hpp"
#include "candidate.hpp"
#include "count.hpp"
#include "runs.hpp"
#include "timing.hpp"

namespace bench {

namespace {

struct Entry {
  std::string name;
  std::unique_ptr<Candidate> candidate;
  double init_seconds = 0;
  bool verified = false;
  std::optional<long> messages, messages_remote;
  Spread seconds;
};

long most(long mine, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG, MPI_MAX, comm);
  return mine;
}

bool verify(Candidate& candidate, Workload& work) {
  int good = 1;
  for (int again = 0; again < 2; ++again) {  // a request must also work the second time
    candidate.prepare(work);
    MPI_Barrier(work.place.cart);
    candidate.run();
    good = good && candidate.correct(work);
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, work.place.cart);
  return good;
}

void count_messages(Entry& entry, const Wire& wire, const Place& place) {
  Candidate& candidate = *entry.candidate;
  Sent inside;
  MPI_Barrier(place.cart);
  const Sent calls = count_calls([&] { inside = wire.count([&] { candidate.run(); }); });
  const Sent sent = candidate.inside_mpi() ? inside : calls;
  const bool seen = !candidate.inside_mpi() || wire.sees_others();
  const bool self_seen = !candidate.inside_mpi() || wire.sees_self() || !place.sends_to_itself();
  const bool apart = !candidate.inside_mpi() || wire.tells_apart() || !place.sends_to_itself();
  const long all = most(sent.others + sent.self, place.cart),
             others = most(sent.others, place.cart);
  if (seen && self_seen) entry.messages = all;
  if (seen && apart) entry.messages_remote = others;
}

std::vector<Entry> make_entries(Candidates& candidates, const Workload& work) {
  std::vector<Entry> entries;
  for (const std::string& name : candidates.names()) {
    MPI_Barrier(work.place.cart);
    double seconds = MPI_Wtime();
    auto candidate = candidates.make(name, work);
    seconds = MPI_Wtime() - seconds;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, work.place.cart);
    if (candidate) entries.push_back({name, std::move(candidate), seconds, false, {}, {}, {}});
  }
  return entries;
}

void time_entries(std::vector<Entry>& entries, const Options& options, const Place& place,
                  Timing& timing, Quiet& quiet) {
  std::vector<std::function<void()>> runs;
  for (Entry& entry : entries) runs.emplace_back([&entry] { entry.candidate->run(); });
  quiet.before = ping_pong(place.cart);
  timing = time_side_by_side(
      runs, {options.rounds, options.warmup, options.min_time, options.max_time}, place.cart);
  quiet.after = ping_pong(place.cart);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].seconds = timing.seconds[i];
}

double median_of(const std::vector<Entry>& entries, const char* name) {
  for (const Entry& each : entries)
    if (each.name == name) return each.seconds.median;
  return 0;
}

void add_times(Row& row, const Entry& entry, const std::vector<Entry>& entries,
               const Timing& timing, const Quiet& quiet) {
  const Spread& s = entry.seconds;
  row.number("median_us", s.median * 1e6)
      .number("q1_us", s.q1 * 1e6)
      .number("q3_us", s.q3 * 1e6)
      .number("min_us", s.least * 1e6);
  row.number("init_us", entry.init_seconds * 1e6)
      .whole("rounds", timing.rounds)
      .whole("batch", timing.batch);
  const double native = median_of(entries, "native"), least = median_of(entries, "floor");
  native > 0 && !is_floor(entry.name) ? row.number("ratio_native", native / s.median)
                                      : row.null("ratio_native");
  least > 0 ? row.number("floor_ratio", s.median / least) : row.null("floor_ratio");
  row.number("pingpong_us", quiet.before.median * 1e6)
      .number("pingpong_p90_us", quiet.before.p90 * 1e6);
  row.number("pingpong_after_us", quiet.after.median * 1e6)
      .number("pingpong_after_p90_us", quiet.after.p90 * 1e6);
  row.flag("disturbed", quiet.disturbed());
}

Row describe(const Entry& entry, const Workload& work, const Options& options) {
  Row row = row_of(work.place, options, work.bytes);
  long total = static_cast<long>(work.total_bytes());
  row.whole("bytes_total", most(total, work.place.cart));
  row.text("requested", entry.name);
  row.text("algorithm", entry.name.substr(0, entry.name.find('/')))
      .text("channel", entry.candidate->channel());
  row.text("chosen", entry.candidate->chosen()).text("reason", entry.candidate->reason());
  row.maybe("messages", entry.messages)
      .maybe("messages_remote", entry.messages_remote)
      .flag("verified", entry.verified);
  return row;
}

void say(const Place& place, const Options& options, std::size_t bytes) {
  if (place.rank == 0)
    std::fprintf(stderr, "tonari_bench: %s %s, %zu bytes\n", options.pattern.c_str(),
                 name(options.operation).c_str(), bytes);
}

void compare_one_size(Candidates& candidates, const Wire& wire, const Place& place,
                      const Options& options, std::size_t bytes, Outcome& outcome) {
  say(place, options, bytes);
  Workload work(place, options, bytes);
  std::vector<Entry> entries = make_entries(candidates, work);
  for (Entry& entry : entries) {
    entry.verified = verify(*entry.candidate, work);
    count_messages(entry, wire, place);
  }
  Timing timing;
  Quiet quiet;
  if (!options.count) {
    time_entries(entries, options, place, timing, quiet);
    for (Entry& entry : entries) entry.verified = verify(*entry.candidate, work) && entry.verified;
  }
  for (const Entry& entry : entries) {
    if (entry.candidate->ours() && !entry.verified && !entry.candidate->inside_mpi())
      outcome.tonari_correct = false;
    Row row = describe(entry, work, options);
    if (!options.count) add_times(row, entry, entries, timing, quiet);
    outcome.rows.push_back(std::move(row));
  }
}

}  // namespace

Outcome compare_exchanges(const Place& place, const Options& options) {
  Outcome outcome;
  Candidates candidates(place, options);
  const Wire wire(place.cart);
  for (const long long bytes : options.bytes)
    compare_one_size(candidates, wire, place, options, static_cast<std::size_t>(bytes), outcome);
  return outcome;
}

}  // namespace bench
