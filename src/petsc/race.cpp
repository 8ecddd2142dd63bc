// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/race.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

// During the first heat tonari may still try its own ways (tonari_tune=online), of which some are
// slow, so only what is far behind loses. The others come when it has chosen.
struct Heat {
  bool is_early;  // it does not wait for that choice
  int after;      // exchanges that tonari did since the heat before, and since the choice
  int turns;      // of both together
  double loses;   // tonari does if it takes more than this many times as long as basic
  double wins;    // and it wins for good if it takes at most so many times as long
};
// Whole rounds of both together.
constexpr Heat heat_table[] = {
    {true, 4, 24, 2.0, 0.8}, {false, 4, 24, 1.2, 0.9}, {false, 60, 48, 1.0, 1.0}};

// Of so many times in a row; what is left over at the end does not count.
std::vector<double> means(const std::vector<double>& times, std::ptrdiff_t in_a_row) {
  std::vector<double> all;
  for (auto at = times.begin(); times.end() - at >= in_a_row; at += in_a_row)
    all.push_back(std::accumulate(at, at + in_a_row, 0.0) / static_cast<double>(in_a_row));
  return all;
}

// Between the lower quartile and the median: some are late for reasons of their own.
double typical_of(std::vector<double> times) {
  const auto third = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 3 / 8);
  std::ranges::nth_element(times, third);
  return *third;
}

}  // namespace

static_assert(std::size(heat_table) == Race::heats);
static_assert(std::ranges::all_of(heat_table,
                                  [](const Heat& h) { return h.turns % (2 * Race::row) == 0; }));

// Who asks is there with both signs, so that all ranks see whether all of them meant one race.
struct Race::Question {
  struct Numbers {
    double seconds[2], forest, minus_forest, kind, minus_kind;
  };
  Numbers here, largest{};  // of this rank, and of all
  double sums[2] = {0, 0};  // of seconds
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};

  bool of_one_race() const {
    return largest.forest == -largest.minus_forest && largest.kind == -largest.minus_kind;
  }
  bool under_way() const {
    return std::ranges::any_of(requests, [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  }
};

Race::Race() = default;

// The MPI may still write what was asked for.
Race::~Race() {
  if (question_ && question_->under_way()) (void)question_.release();
}

double Race::now() const {
  if (!crowded_) return MPI_Wtime();
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Runner Race::next() const {
  if (turns_left_ > 0) return (turns_left_ - 1) / row % 2 == 1 ? Runner::tonari : Runner::basic;
  return lost_ ? Runner::basic : Runner::tonari;
}

void Race::begin_heat() {
  turns_left_ = heat_table[heat_].turns;
  for (std::vector<double>& times : times_) times.clear(), times.reserve(32);
}

void Race::passed(bool chosen) {
  if (heat_ == heats || over_ || question_ || !(chosen || heat_table[heat_].is_early)) return;
  if (++passed_ >= heat_table[heat_].after) begin_heat();
}

void Race::finished(Runner runner, double seconds) {
  const bool after_the_other = turns_left_ % row == 0;
  if (!after_the_other) times_[static_cast<int>(runner)].push_back(seconds);
  over_ = --turns_left_ == 0;
}

// Where ranks share cores, one exchange is short because another one was long.
double Race::typical(Runner runner) const {
  const std::vector<double>& times = times_[static_cast<int>(runner)];
  return typical_of(crowded_ ? means(times, row - 1) : times);
}

// PETSc keeps communicators for other packages, whose collective calls do not mix with the
// program's. One is given back at once: who gets it next may use it from then on.
PetscErrorCode Race::prepare(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  PetscFunctionBegin;
  PetscCall(PetscCommGetComm(comm, &own));  // a duplicate if there is none
  PetscCall(PetscCommRestoreComm(comm, &own));
  PetscFunctionReturn(success);
}

PetscErrorCode Race::ask(MPI_Comm comm, const RaceName& name) {
  constexpr int numbers = sizeof(Question::Numbers) / sizeof(double);
  const double forest = name.star_forest, kind = name.kind;
  MPI_Comm own = MPI_COMM_NULL;
  PetscFunctionBegin;
  over_ = false;
  question_ = std::make_unique<Question>(
      Question{{{typical(Runner::tonari), typical(Runner::basic)}, forest, -forest, kind, -kind}});
  Question& q = *question_;
  PetscCall(PetscCommGetComm(comm, &own));
  PetscCallMPI(
      MPI_Iallreduce(&q.here, &q.largest, numbers, MPI_DOUBLE, MPI_MAX, own, &q.requests[0]));
  PetscCallMPI(MPI_Iallreduce(q.here.seconds, q.sums, 2, MPI_DOUBLE, MPI_SUM, own, &q.requests[1]));
  PetscCall(PetscCommRestoreComm(comm, &own));
  PetscFunctionReturn(success);
}

PetscErrorCode Race::hear(MPI_Comm comm) {
  PetscMPIInt ranks = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall(2, question_->requests.data(), MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  passed_ = 0;
  if (question_->of_one_race()) decide(ranks);
  question_.reset();
  PetscFunctionReturn(success);
}

// On cores of their own, others wait for the slowest rank.
void Race::decide(int ranks) {
  for (int k = 0; k < 2; ++k)
    seconds_[k] = crowded_ ? question_->sums[k] / ranks : question_->largest.seconds[k];
  const Heat& heat = heat_table[heat_];
  lost_ = seconds(Runner::tonari) > heat.loses * seconds(Runner::basic);
  const bool won = seconds(Runner::tonari) <= heat.wins * seconds(Runner::basic);
  heat_ = lost_ || won ? heats : heat_ + 1;
}

}  // namespace tonari::petsc
