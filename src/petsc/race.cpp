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
constexpr Heat heat_table[] = {{4, 24, 1.5, 0.8}, {60, 24, 1.2, 0.9}, {300, 48, 1.0, 1.0}};

// Between the lower quartile and the median: some exchanges are late for reasons of their own.
double typical(std::vector<double>& times) {
  const auto third = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 3 / 8);
  std::ranges::nth_element(times, third);
  return *third;
}

}  // namespace

static_assert(std::size(heat_table) == Race::heats);

Runner Race::next() const {
  if (turns_left_ > 0) return turns_left_ % 2 == 0 ? Runner::tonari : Runner::basic;
  return lost_ ? Runner::basic : Runner::tonari;
}

void Race::begin_heat() {
  turns_left_ = heat_table[heat_].turns;
  for (std::vector<double>& times : times_) times.clear(), times.reserve(32);
}

void Race::passed() {
  if (heat_ == heats) return;
  if (++passed_ >= heat_table[heat_].after) begin_heat();
}

PetscErrorCode Race::finished(MPI_Comm comm, Runner runner, double seconds) {
  PetscFunctionBegin;
  times_[static_cast<int>(runner)].push_back(seconds);
  if (--turns_left_ == 0) PetscCall(decide(comm));
  PetscFunctionReturn(success);
}

PetscErrorCode Race::decide(MPI_Comm comm) {
  double here[2] = {typical(times_[0]), typical(times_[1])};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(here, seconds_, 2, MPI_DOUBLE, MPI_MAX, comm));
  const Heat& heat = heat_table[heat_];
  lost_ = seconds(Runner::tonari) > heat.loses * seconds(Runner::basic);
  const bool won = seconds(Runner::tonari) <= heat.wins * seconds(Runner::basic);
  heat_ = lost_ || won ? heats : heat_ + 1;
  passed_ = 0;
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
