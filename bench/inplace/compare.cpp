// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench_inplace: tonari's exchanges in place beside MPI's own, in one process: time and
// memory, every result verified.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "inplace/exchange.hpp"
#include "inplace/options.hpp"
#include "inplace/peak.hpp"

namespace bench::inplace {

namespace {

struct Weighed : Candidate {
  Peak peak{};
};
using Entry = bench::Entry<Weighed, Exchange>;
using Contest = Harness<Weighed, Exchange>;

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
bool delivers(Exchange& exchange, Workload& work, int turn) {
  const bool back = turn == 1 && exchange.in_place() && work.symmetric;
  MPI_Barrier(work.comm);
  if (!back) work.fill();
  MPI_Barrier(work.comm);
  exchange.run();
  return exchange.worked() && (back ? work.original() : work.delivered(exchange.result(work)));
}

// What all ranks do at once beside the exchanges, without waiting for each other.
struct Beside {
  Spread copy;   // a memcpy of as many bytes as come from others, to a second buffer
  Spread floor;  // as many bytes are copied out of their place and back, by way of the cache
};

// The ranks' memory is their own, so a byte on its way is copied twice: into memory that both ranks
// share, and out of it. Here that memory lies in the rank's own cache.
void copy_out_and_back(Word* data, std::size_t words, std::span<Word> cell) {
  for (std::size_t at = 0; at < words; at += cell.size()) {
    const std::size_t bytes = std::min(cell.size(), words - at) * sizeof(Word);
    std::memcpy(cell.data(), data + at, bytes);
    std::memcpy(data + at, cell.data(), bytes);
  }
}

Beside time_beside_copies(Contest& all, Workload& work, const Options& options) {
  const std::shared_ptr<Word[]> target = work.spare();
  const std::size_t bytes = work.bytes_from_others();
  std::vector<Word> cell(64 * 1024 / sizeof(Word));
  const std::vector<Spread> seconds =
      all.time({options.rounds, 1, 0, options.max_time, 1},
               {[&] { std::memcpy(target.get(), work.data(), bytes); },
                [&] { copy_out_and_back(work.data(), bytes / sizeof(Word), cell); }});
  return {seconds[0], seconds[1]};
}

Row describe(const Entry& entry, const Workload& work, const Options& options, long long moved) {
  const Peak& peak = entry.peak;
  Row row;
  row.text("exchange", work.symmetric ? "symmetric" : "general").text("algorithm", entry.algorithm);
  entry.budget ? row.whole("budget_bytes", *entry.budget) : row.null("budget_bytes");
  row.text("channel", entry.exchange->channel()).text("requested_channel", entry.requested_channel);
  row.text("chosen", entry.exchange->chosen()).whole("ranks", work.ranks).mpi();
  row.whole("total_bytes", options.total_bytes).whole("moved_bytes", moved);
  row.text("sizes", options.equal ? "equal" : "random").whole("seed", options.seed);
  row.whole("peak_extra_bytes", peak_bytes(peak));
  for (const auto& [key, value] :
       {std::pair{"peak_hwm_bytes", peak.high_water}, std::pair{"peak_heap_bytes", peak.heap}})
    value >= 0 ? row.whole(key, value) : row.null(key);
  return std::move(row.text("peak_method", peak_method(peak)).flag("verified", entry.verified));
}

void add_times(Row& row, const Entry& entry, const Contest& all, const Beside& beside,
               long long moved) {
  const auto ratio = [&](const char* key, const char* algorithm) {
    const auto named = [&](const Entry& e) { return e.algorithm == algorithm && e.verified; };
    row.ratio(key, all.median(named), entry.seconds.median);
  };
  all.add_times(row, entry);
  ratio("ratio_native", "native-inplace");
  ratio("ratio_out_of_place", "native-out-of-place");
  const auto against = [&](const char* ratio_key, const char* key, double seconds) {
    row.ratio(ratio_key, moved ? seconds : 0, entry.seconds.median).number(key, seconds * 1e6);
  };
  against("of_copy", "copy_us", beside.copy.median);
  against("of_floor", "floor_us", beside.floor.median);
  row.flag("disturbed", all.quiet.disturbed());
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
  std::vector<Weighed> weighed;
  {
    Workload small(comm, kind.small, kind.symmetric);
    fill_pools(comm);
    for (const Candidate& each : candidates(options, kind.algorithms))
      weighed.push_back({each, weigh(each, small, work, returning.get())});
  }
  Contest all(comm);
  const auto verified = [&](Exchange& exchange, int turn) {
    return delivers(exchange, work, turn);
  };
  for (const Weighed& each : weighed)
    all.verify(*all.add(each, [&] { return make_exchange(each, work, returning.get()); }),
               verified);
  const long long moved = most(static_cast<long long>(work.bytes_from_others()), comm);
  Beside beside;
  if (!options.count) {
    beside = time_beside_copies(all, work, options);
    all.verify(verified);
  }
  all.report(outcome, [&](const Entry& entry) {
    Row row = describe(entry, work, options, moved);
    if (!options.count) add_times(row, entry, all, beside, moved);
    return row;
  });
}

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

}  // namespace
}  // namespace bench::inplace

int main(int argc, char** argv) {
  using namespace bench::inplace;
  return bench::run_comparison("tonari_bench_inplace", usage().c_str(), argc, argv, parse_options,
                               compare);
}
