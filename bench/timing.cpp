// SPDX-License-Identifier: BSD-3-Clause
#include "timing.hpp"

#include <time.h>

#include <numeric>
#include <random>

#include "collect.hpp"

namespace bench {

namespace {

// seconds; anything shorter is repeated, since looking at the clock and leaving the barrier cost
// too
constexpr double shortest = 5e-6;
constexpr int largest_batch = 64;

// Computes for so many seconds of the processor's, however long this rank waits for a core.
void compute(double seconds) {
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  for (const double begin = used(); used() - begin < seconds;);
}

class SideBySide {
 public:
  SideBySide(const std::vector<std::function<void()>>& candidates,
             const std::vector<std::function<void()>>& before, double work, MPI_Comm comm)
      : candidates_(candidates),
        before_(before),
        work_(work),
        comm_(comm),
        order_(candidates.size()),
        times_(candidates.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  void round(int batch) {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const std::size_t c : order_) {
      if (!before_.empty()) before_[c]();
      MPI_Barrier(comm_);
      const double start = now();
      for (int i = 0; i < batch; ++i) {
        if (work_ > 0) compute(work_);
        candidates_[c]();
      }
      times_[c].push_back((now() - start) / batch);
    }
  }

  // Runs until there are so many rounds and seconds, or no more seconds; all ranks stop after the
  // same round.
  void go_on(int rounds, double min_time, double max_time, int batch, int look_every) {
    const double start = now();
    for (int more = 1, done = 0; more;) {
      for (int i = 0; i < look_every && (done < rounds || min_time > 0); ++i, ++done) round(batch);
      const double passed = now() - start;
      more = passed < max_time && (done < rounds || passed < min_time);
      MPI_Bcast(&more, 1, MPI_INT, 0, comm_);
    }
  }

  // Per candidate: the maximum over ranks of every round.
  std::vector<Spread> take() {
    std::vector<Spread> result;
    for (std::vector<double>& mine : times_) {
      MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX,
                    comm_);
      result.push_back(spread(std::move(mine)));
      mine.clear();
    }
    return result;
  }

  int rounds() const { return static_cast<int>(times_.front().size()); }

 private:
  const std::vector<std::function<void()>>& candidates_;
  const std::vector<std::function<void()>>& before_;
  double work_;
  MPI_Comm comm_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<double>> times_;
  std::mt19937 random_{2016};  // the same on all ranks
};

int choose_batch(const std::vector<Spread>& seconds) {
  double fastest = shortest;
  for (const Spread& each : seconds) fastest = std::min(fastest, each.median);
  return std::clamp(static_cast<int>(std::ceil(shortest / std::max(fastest, 1e-9))), 1,
                    largest_batch);
}

}  // namespace

Timing time_side_by_side(const std::vector<std::function<void()>>& candidates, const Effort& effort,
                         MPI_Comm comm) {
  Timing timing;
  if (candidates.empty()) return timing;
  SideBySide together(candidates, effort.before, effort.work, comm);
  together.go_on(std::max(1, effort.warmup), 0, effort.max_time / 4, std::max(1, effort.batch),
                 effort.look_every);
  const std::vector<Spread> first = together.take();
  timing.batch = effort.batch > 0 ? effort.batch : choose_batch(first);
  together.go_on(effort.rounds, effort.min_time, effort.max_time, timing.batch, effort.look_every);
  timing.rounds = together.rounds();
  timing.seconds = together.take();
  return timing;
}

Spread ping_pong(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<double> seconds(ranks > 1 ? 300 : 0);
  const int last = ranks - 1;
  double ball = 0;
  MPI_Barrier(comm);
  for (double& each : seconds) {
    const double start = now();
    if (rank == 0) MPI_Send(&ball, 1, MPI_DOUBLE, last, 0, comm);
    if (rank == 0 || rank == last)
      MPI_Recv(&ball, 1, MPI_DOUBLE, rank == 0 ? last : 0, 0, comm, MPI_STATUS_IGNORE);
    if (rank == last) MPI_Send(&ball, 1, MPI_DOUBLE, 0, 0, comm);
    each = (now() - start) / 2;
  }
  Spread result = spread({seconds.begin() + static_cast<long>(seconds.size() / 3), seconds.end()});
  MPI_Bcast(&result, sizeof result / sizeof(double), MPI_DOUBLE, 0, comm);
  return result;
}

}  // namespace bench
