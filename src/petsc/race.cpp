// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/race.hpp"

#include <algorithm>
#include <iterator>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

// The first heats are run while tonari still tries its own ways (tonari_tune=online), so they
// decide only what is clear. By the last one it has chosen.
struct Heat {
  int after;     // exchanges that tonari did since the heat before
  int turns;     // of both together
  double loses;  // tonari does if it takes more than this many times as long as basic
  double wins;   // and it wins for good if it takes at most so many times as long
};
// Whole rounds of both together.
constexpr Heat heat_table[] = {{4, 24, 1.5, 0.8}, {60, 24, 1.2, 0.9}, {300, 48, 1.0, 1.0}};

// Between the lower quartile and the median: some exchanges are late for reasons of their own.
double typical(std::vector<double>& times) {
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
    double of_tonari, of_basic, forest, minus_forest, kind, minus_kind;
  };
  static constexpr int numbers = sizeof(Numbers) / sizeof(double);
  Numbers here, largest{};  // of this rank, and of all
  MPI_Request request = MPI_REQUEST_NULL;

  bool of_one_race() const {
    return largest.forest == -largest.minus_forest && largest.kind == -largest.minus_kind;
  }
};

Race::Race() = default;

// The MPI may still write what was asked for.
Race::~Race() {
  if (question_ && question_->request != MPI_REQUEST_NULL) (void)question_.release();
}

Runner Race::next() const {
  if (turns_left_ > 0) return (turns_left_ - 1) / row % 2 == 1 ? Runner::tonari : Runner::basic;
  return lost_ ? Runner::basic : Runner::tonari;
}

void Race::begin_heat() {
  turns_left_ = heat_table[heat_].turns;
  for (std::vector<double>& times : times_) times.clear(), times.reserve(32);
}

void Race::passed() {
  if (heat_ == heats || over_ || question_) return;
  if (++passed_ >= heat_table[heat_].after) begin_heat();
}

void Race::finished(Runner runner, double seconds) {
  const bool after_the_other = turns_left_ % row == 0;
  if (!after_the_other) times_[static_cast<int>(runner)].push_back(seconds);
  over_ = --turns_left_ == 0;
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
  MPI_Comm own = MPI_COMM_NULL;
  PetscFunctionBegin;
  over_ = false;
  const double forest = name.star_forest, kind = name.kind;
  question_ = std::make_unique<Question>(
      Question{{typical(times_[0]), typical(times_[1]), forest, -forest, kind, -kind}});
  PetscCall(PetscCommGetComm(comm, &own));
  PetscCallMPI(MPI_Iallreduce(&question_->here, &question_->largest, Question::numbers, MPI_DOUBLE,
                              MPI_MAX, own, &question_->request));
  PetscCall(PetscCommRestoreComm(comm, &own));
  PetscFunctionReturn(success);
}

PetscErrorCode Race::hear() {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Wait(&question_->request, MPI_STATUS_IGNORE));
  passed_ = 0;
  if (question_->of_one_race()) decide();
  question_.reset();
  PetscFunctionReturn(success);
}

void Race::decide() {
  seconds_[0] = question_->largest.of_tonari, seconds_[1] = question_->largest.of_basic;
  const Heat& heat = heat_table[heat_];
  lost_ = seconds(Runner::tonari) > heat.loses * seconds(Runner::basic);
  const bool won = seconds(Runner::tonari) <= heat.wins * seconds(Runner::basic);
  heat_ = lost_ || won ? heats : heat_ + 1;
}

}  // namespace tonari::petsc
