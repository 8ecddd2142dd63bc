#include "planners/in_place/compare.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "planners/in_place/exchange.hpp"
#include "planners/in_place/peak.hpp"
#include "timing.hpp"

namespace bench::inplace {

namespace {

struct Entry {
  Candidate asked;
  Peak peak;
  std::unique_ptr<Exchange> exchange{};
  double init_seconds = 0;
  bool verified = false;
  Spread seconds{};
};

// The comparators' communicator: what MPI cannot do is a row that is not verified, not the end of
// the program.
class Returning {
 public:
  explicit Returning(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~Returning() { MPI_Comm_free(&comm_); }
  Returning(const Returning&) = delete;
  Returning& operator=(const Returning&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
};

constexpr int native_ways = 3;  // at the front of known_algorithms

bool is_native(const std::string& algorithm) {
  const auto& known = known_algorithms();
  return std::find(known.begin(), known.begin() + native_ways, algorithm) !=
         known.begin() + native_ways;
}

std::vector<Candidate> candidates(const Options& options,
                                  const std::vector<std::string>& algorithms) {
  std::vector<Candidate> all;
  for (const std::string& algorithm : algorithms) {
    if (is_native(algorithm))
      all.push_back({algorithm});
    else
      for (const std::string& channel : options.channels)
        for (const long long budget : options.memory) all.push_back({algorithm, budget, channel});
  }
  return all;
}

// Many messages of several sizes on their way between any two ranks: the pools that the MPI makes
// for its messages grow now, and not for whoever comes first.
void fill_pools(MPI_Comm comm) {
  constexpr int messages = 64;
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (const int bytes : {64, 1024, 4096, 8192, 16384, 32768, 65536})
    for (int i = 0; i < ranks; ++i) {
      const int partner = (i - rank + ranks) % ranks;
      if (partner == rank) continue;
      std::vector<char> from(bytes), into(static_cast<std::size_t>(bytes) * messages);
      std::vector<MPI_Request> requests(2 * messages);
      for (int m = 0; m < messages; ++m) {
        MPI_Irecv(into.data() + static_cast<std::size_t>(bytes) * m, bytes, MPI_BYTE, partner, m,
                  comm, &requests[m]);
        MPI_Isend(from.data(), bytes, MPI_BYTE, partner, m, comm, &requests[messages + m]);
      }
      MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    }
}

// The small workload first: code pages, connections and the MPI's pools are there then, and belong
// to nobody.
Peak weigh(const Candidate& candidate, Workload& small, Workload& work, MPI_Comm returning) {
  constexpr int warm = 4;
  {
    const auto exchange = make_exchange(candidate, small, returning);
    for (int i = 0; i < warm; ++i) exchange->run();
  }
  std::unique_ptr<Exchange> exchange;
  const auto once = [&] {
    exchange = make_exchange(candidate, work, returning);
    exchange->run();
  };
  return peak_of(once, work.comm);
}

// Applied twice a symmetric exchange gives the original back: both are looked at, so that no
// candidate lives on what another one left.
bool verify(Exchange& exchange, Workload& work) {
  work.fill();
  MPI_Barrier(work.comm);
  bool good = exchange.run() && work.delivered(exchange.result(work));
  MPI_Barrier(work.comm);
  const bool back = exchange.in_place() && work.symmetric;
  if (!back) work.fill();
  good = exchange.run() && good && (back ? work.original() : work.delivered(exchange.result(work)));
  int all = good;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, work.comm);
  return all;
}

std::unique_ptr<Exchange> make_timed(Entry& entry, Workload& work, MPI_Comm returning) {
  MPI_Barrier(work.comm);
  entry.init_seconds = MPI_Wtime();
  auto exchange = make_exchange(entry.asked, work, returning);
  entry.init_seconds = MPI_Wtime() - entry.init_seconds;
  MPI_Allreduce(MPI_IN_PLACE, &entry.init_seconds, 1, MPI_DOUBLE, MPI_MAX, work.comm);
  return exchange;
}

struct Measured {
  Timing timing;
  Quiet quiet;
  Spread copy;          // memcpy of as many bytes as come from others, all ranks at once
  long long moved = 0;  // those bytes, the most over ranks
};

Measured time_entries(std::vector<Entry>& entries, Workload& work, const Options& options) {
  const std::shared_ptr<Word[]> target = work.spare();
  const std::size_t bytes = work.bytes_from_others();
  std::vector<std::function<void()>> runs{[&] { std::memcpy(target.get(), work.data(), bytes); }};
  for (Entry& entry : entries) runs.emplace_back([&entry] { entry.exchange->run(); });
  Measured result;
  result.quiet.before = ping_pong(work.comm);
  result.timing = time_side_by_side(runs, {options.rounds, 1, 0, options.max_time, 1}, work.comm);
  result.quiet.after = ping_pong(work.comm);
  result.copy = result.timing.seconds[0];
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].seconds = result.timing.seconds[i + 1];
  return result;
}

long long most(long long mine, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG_LONG, MPI_MAX, comm);
  return mine;
}

Row describe(const Entry& entry, const Workload& work, const Options& options, long long moved) {
  const Peak& peak = entry.peak;
  Row row;
  row.text("exchange", work.symmetric ? "symmetric" : "general")
      .text("algorithm", entry.asked.algorithm);
  entry.asked.budget ? row.whole("budget_bytes", *entry.asked.budget) : row.null("budget_bytes");
  row.text("channel", entry.exchange->channel())
      .text("requested_channel", entry.asked.channel)
      .text("chosen", entry.exchange->chosen());
  row.whole("ranks", work.ranks).text("mpi", mpi_name()).text("mpi_version", mpi_version());
  row.whole("total_bytes", options.total_bytes)
      .whole("moved_bytes", moved)
      .text("sizes", options.equal ? "equal" : "random");
  row.whole("seed", options.seed).whole("peak_extra_bytes", peak_bytes(peak));
  for (const auto& [key, value] :
       {std::pair{"peak_hwm_bytes", peak.high_water}, std::pair{"peak_heap_bytes", peak.heap}})
    value >= 0 ? row.whole(key, value) : row.null(key);
  return std::move(row.text("peak_method", peak_method(peak)).flag("verified", entry.verified));
}

double median_of(const std::vector<Entry>& entries, const char* algorithm) {
  for (const Entry& each : entries)
    if (each.asked.algorithm == algorithm && each.verified) return each.seconds.median;
  return 0;
}

void add_times(Row& row, const Entry& entry, const std::vector<Entry>& entries,
               const Measured& measured) {
  const Spread& s = entry.seconds;
  const auto ratio = [&](const char* key, double other) {
    other > 0 ? row.number(key, other / s.median) : row.null(key);
  };
  row.number("median_us", s.median * 1e6)
      .number("q1_us", s.q1 * 1e6)
      .number("q3_us", s.q3 * 1e6)
      .number("min_us", s.least * 1e6);
  row.number("init_us", entry.init_seconds * 1e6)
      .whole("rounds", measured.timing.rounds)
      .whole("batch", measured.timing.batch);
  ratio("ratio_native", median_of(entries, "native-inplace"));
  ratio("ratio_out_of_place", median_of(entries, "native-out-of-place"));
  ratio("of_copy", measured.moved ? measured.copy.median : 0);
  row.number("copy_us", measured.copy.median * 1e6).flag("disturbed", measured.quiet.disturbed());
}

// One kind of exchange.
struct Kind {
  bool symmetric;
  std::vector<std::string> algorithms;
  Sizes sizes, small;
};

void compare_one(const Options& options, const Kind& kind, MPI_Comm comm, Outcome& outcome) {
  const Returning returning(comm);
  Workload work(comm, kind.sizes, kind.symmetric);
  if (work.rank == 0)
    std::fprintf(stderr, "tonari_bench_inplace: %s, %d ranks\n",
                 work.symmetric ? "symmetric" : "general", work.ranks);
  std::vector<Entry> entries;
  {
    Workload small(comm, kind.small, kind.symmetric);
    fill_pools(comm);
    for (const Candidate& each : candidates(options, kind.algorithms))
      entries.push_back({each, weigh(each, small, work, returning.get())});
  }
  for (Entry& entry : entries) {
    entry.exchange = make_timed(entry, work, returning.get());
    entry.verified = verify(*entry.exchange, work);
  }
  Measured measured;
  measured.moved = most(static_cast<long long>(work.bytes_from_others()), comm);
  if (!options.count) {
    const long long moved = measured.moved;
    measured = time_entries(entries, work, options);
    measured.moved = moved;
    for (Entry& entry : entries) entry.verified = verify(*entry.exchange, work) && entry.verified;
  }
  for (const Entry& entry : entries) {
    outcome.tonari_correct = outcome.tonari_correct && (entry.verified || !is_ours(entry.asked));
    Row row = describe(entry, work, options, measured.moved);
    if (!options.count) add_times(row, entry, entries, measured);
    outcome.rows.push_back(std::move(row));
  }
}

}  // namespace

Outcome compare(const Options& options, MPI_Comm comm) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  const long long total = options.total_bytes / static_cast<long long>(sizeof(Word));
  const long long small = std::min<long long>(total, 8192);
  Outcome outcome;
  compare_one(options,
              {true, options.algorithms, symmetric_sizes(ranks, total, options.seed, options.equal),
               symmetric_sizes(ranks, small, options.seed, options.equal)},
              comm, outcome);
  if (options.general)
    compare_one(options,
                {false,
                 {"native-out-of-place", "general"},
                 general_sizes(ranks, total, options.seed),
                 general_sizes(ranks, small, options.seed)},
                comm, outcome);
  return outcome;
}

}  // namespace bench::inplace
