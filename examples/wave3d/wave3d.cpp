// SPDX-License-Identifier: BSD-3-Clause
// The wave equation with two fields that lie brick by brick beside each other, in eighth order,
// with threads. A standing wave on the periodic box is computed on two grids, one twice as fine,
// with steps of the same length: its error must fall with the eighth power, and its energy must
// stay.
//
//   mpiexec -n 2 wave3d [--cells 32] [--steps 200] [--threads 2] [--storage brick|mapped] [--save
//                       FILE]
//
// --cells: of the coarse grid, per dimension; a multiple of 8, at least 16 for each rank in a
// dimension.
#include <algorithm>
#include <cmath>

#include "program.hpp"
#include "wave.hpp"

namespace {

struct Result {
  double error, energy, drift, step_seconds;
};

struct Settings {
  int cells = 32, steps = 200, threads = 0;
  std::string storage = "brick", save;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  Options options;
  options.add("--cells", settings.cells, 8);
  options.add("--steps", settings.steps, 1);
  options.add("--threads", settings.threads, 1);
  options.add("--storage", settings.storage);
  options.add("--save", settings.save);
  options.parse(argc, argv);
  if (settings.storage != "brick" && settings.storage != "mapped")
    throw UsageError("--storage is brick or mapped");
  return settings;
}

// The largest stable step of the finer grid is 2 / sqrt(3 * 6.5) = 0.45 of its cells (6.5: the
// symbol of the second derivative at its largest).
double step_length(const Settings& settings) { return 0.4 / (2.0 * settings.cells); }

Result solve(const Ranks& ranks, const Settings& settings, int cells, const std::string& save) {
  Wave wave(ranks.cart, cells, step_length(settings), settings.storage == "mapped");
  wave.initialize({2, 1, -2});
  double first = 0, drift = 0, seconds = 0;
  for (int step = 0; step < settings.steps; ++step) {
    const double begin = MPI_Wtime();
    wave.step();
    seconds += MPI_Wtime() - begin;
    if (step % 20 != 0 && step != settings.steps - 1) continue;
    const double energy = ranks.sum(wave.energy());
    if (step == 0) first = energy;
    drift = std::max(drift, std::abs(energy / first - 1));
  }
  if (!save.empty()) wave.save(save);
  return {ranks.max(wave.error()), first, drift, ranks.max(seconds) / settings.steps};
}

bool wave3d(int argc, char** argv) {
  const Ranks ranks;
  const Settings settings = parse(argc, argv);
  use_threads(settings.threads);
  const int cells[] = {settings.cells, 2 * settings.cells};
  const Result results[] = {solve(ranks, settings, cells[0], ""),
                            solve(ranks, settings, cells[1], settings.save)};
  const double order = std::log2(results[0].error / results[1].error);
  bool passed = order > 7.5 && order < 8.5;
  for (const Result& r : results) passed = passed && r.drift < 1e-11;
  if (ranks.root) {
    std::printf(
        "two-field wave equation, %d steps to time %.3f, %d x %d x %d ranks of %d threads, storage "
        "%s\n",
        settings.steps, settings.steps * step_length(settings), ranks.dims[0], ranks.dims[1],
        ranks.dims[2], threads(), settings.storage.c_str());
    std::printf("%8s %10s %12s %14s %10s\n", "cells", "error", "energy", "energy drift", "step us");
    for (int i = 0; i < 2; ++i)
      std::printf("%6d^3 %10.2e %12.6f %14.1e %10.1f\n", cells[i], results[i].error,
                  results[i].energy, results[i].drift, results[i].step_seconds * 1e6);
    std::printf("order of the error: %.2f (8 is expected)\n", order);
    if (!passed) std::fprintf(stderr, "wave3d: FAILED\n");
  }
  return passed;
}

}  // namespace

int main(int argc, char** argv) { return run("wave3d", argc, argv, wave3d); }
