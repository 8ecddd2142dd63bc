// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's iteration with 7 points, computed once on every storage: an array, bricks, and bricks in
// mapped memory, the ghosts of which may be the neighbors' pages. All must give the same bits, and
// those of array must decay as the waves that the grid begins with do exactly.
//
//   mpiexec -n 2 jacobi3d [--cells 64 | --global 128] [--steps 20] [--halo 8] [--overlap] [--every
//                         4] [--storages array,brick] [--threads 2] [--save FILE] [--json]
//
//   --cells, --global  cells per dimension of a rank, or of the whole grid: a multiple of 8
//   --overlap          compute the interior while the halo travels
//   --every K          ghost cell expansion: exchange every K steps only, K <= halo, and compute
//                      the ghosts that the steps between need
//   --save FILE        the last state, of the first storage, as .npy
//   --json             one object per storage on standard output instead of the table
//
// Exit status 0 only if everything is equal and right.
#include <algorithm>
#include <cstring>
#include <optional>

#include "jacobi.hpp"
#include "program.hpp"

namespace {

struct Wanted {
  Settings settings;
  int cells = 64, global = 0, threads = 0;
  std::vector<std::string> storages;
  std::string save;
  bool json = false;
};

// In whole bricks, also on arrays: ranks then have the same cells with every storage, and can
// compare them.
std::int64_t share(std::int64_t cells, int ranks, int me) {
  constexpr std::int64_t brick = 8;
  if (cells % brick != 0)
    throw UsageError("--cells and --global must be multiples of " + std::to_string(brick) +
                     ", the cells of a brick");
  const std::int64_t bricks = cells / brick;
  return brick * (bricks / ranks + (me < bricks % ranks));
}

Wanted parse(int argc, char** argv, const Ranks& ranks) {
  Wanted wanted;
  for (const Storage& s : storages()) wanted.storages.push_back(s.name);
  Options options;
  options.add("--cells", wanted.cells, 8);
  options.add("--global", wanted.global, 8);
  options.add("--steps", wanted.settings.steps, 1);
  options.add("--halo", wanted.settings.halo, 8);
  options.add("--every", wanted.settings.every, 1);
  options.add("--overlap", wanted.settings.overlap);
  options.add("--storages", wanted.storages);
  options.add("--threads", wanted.threads, 1);
  options.add("--save", wanted.save);
  options.add("--json", wanted.json);
  options.parse(argc, argv);
  if (wanted.settings.every > wanted.settings.halo)
    throw UsageError(
        "--every must not be more than --halo: each step without an exchange uses up one layer of "
        "ghosts");
  for (std::size_t d = 0; d < 3; ++d) {
    wanted.settings.cells[d] =
        wanted.global ? wanted.global : static_cast<std::int64_t>(wanted.cells) * ranks.dims[d];
    wanted.settings.own[d] = share(wanted.settings.cells[d], ranks.dims[d], ranks.me[d]);
  }
  return wanted;
}

// Seconds per step over the ranks.
struct Spread {
  double min, mean, max;
};
Spread spread(const Ranks& ranks, double mine) {
  return {-ranks.max(-mine), ranks.sum(mine) / (ranks.dims[0] * ranks.dims[1] * ranks.dims[2]),
          ranks.max(mine)};
}

struct Row {
  std::string storage, exchange;
  int every, messages;
  Spread step, compute, communicate;
  double error;
  bool equal;  // to the first storage's state
};

void print(const Row& row) {
  std::printf(
      "%-13s %-28s %9.1f %10.1f %11.1f %9d %8.1e  %s\n", row.storage.c_str(),
      (row.exchange + (row.every > 1 ? ", every " + std::to_string(row.every) : "")).c_str(),
      row.step.max * 1e6, row.compute.mean * 1e6, row.communicate.mean * 1e6, row.messages,
      row.error, row.equal ? "yes" : "NO");
}

void print_json(const Row& row, const Ranks& ranks, const Settings& s) {
  const auto microseconds = [](const char* name, const Spread& t) {
    std::printf("\"%s_us\": [%.3f, %.3f, %.3f], ", name, t.min * 1e6, t.mean * 1e6, t.max * 1e6);
  };
  std::printf(
      "{\"ranks\": %d, \"cells\": [%lld, %lld, %lld], \"steps\": %d, \"storage\": \"%s\", "
      "\"exchange\": \"%s\", \"every\": %d, \"overlap\": %s, ",
      ranks.dims[0] * ranks.dims[1] * ranks.dims[2], static_cast<long long>(s.cells[0]),
      static_cast<long long>(s.cells[1]), static_cast<long long>(s.cells[2]), s.steps,
      row.storage.c_str(), row.exchange.c_str(), row.every, s.overlap ? "true" : "false");
  microseconds("step", row.step);
  microseconds("compute", row.compute);
  microseconds("exchange", row.communicate);
  std::printf("\"messages\": %d, \"error\": %.3e, \"equal\": %s}\n", row.messages, row.error,
              row.equal ? "true" : "false");
}

// On one storage. `state`: that of the first storage, which sets it.
Row solve(const Ranks& ranks, const Storage& storage, const Settings& settings,
          const std::string& save, std::optional<std::vector<double>>& state) {
  Jacobi jacobi(ranks.cart, storage, settings);
  jacobi.initialize();
  // memory is touched, connections are made; both copies were exchanged, so the next exchange is
  // copy 0's again
  jacobi.iterate(2);
  jacobi.initialize();
  MPI_Barrier(ranks.cart);
  const Times times = jacobi.iterate(settings.steps);
  const std::vector<double> mine = jacobi.state();
  if (!state) {
    state = mine;
    if (!save.empty()) jacobi.save(save);
  }
  const bool equal = state->size() == mine.size() &&
                     std::memcmp(state->data(), mine.data(), mine.size() * sizeof(double)) == 0;
  return {storage.name,
          jacobi.exchange(),
          jacobi.every(),
          jacobi.messages(),
          spread(ranks, times.compute + times.exchange),
          spread(ranks, times.compute),
          spread(ranks, times.exchange),
          ranks.max(jacobi.error()),
          ranks.every(equal)};
}

bool jacobi3d(int argc, char** argv) {
  const Ranks ranks;
  const Wanted wanted = parse(argc, argv, ranks);
  const Settings& s = wanted.settings;
  use_threads(wanted.threads);
  if (ranks.root && !wanted.json) {
    std::printf(
        "7-point Jacobi, %lld x %lld x %lld cells on %d x %d x %d ranks of %d threads, halo %d, %d "
        "steps%s\n",
        static_cast<long long>(s.cells[0]), static_cast<long long>(s.cells[1]),
        static_cast<long long>(s.cells[2]), ranks.dims[0], ranks.dims[1], ranks.dims[2], threads(),
        s.halo, s.steps, s.overlap ? ", the interior is computed while the halo travels" : "");
    std::printf("%-13s %-28s %9s %10s %11s %9s %8s  %s\n", "storage", "exchange", "step us",
                "compute us", "exchange us", "messages", "error", "equal bits");
  }
  bool passed = true;
  std::optional<std::vector<double>> state;
  for (const std::string& name : wanted.storages) {
    const Row row = solve(ranks, storage(name), s, wanted.save, state);
    if (ranks.root) wanted.json ? print_json(row, ranks, s) : print(row);
    // the waves are of order 1; every step rounds
    passed = passed && row.equal && row.error <= 1e-13 + 1e-15 * s.steps;
  }
  if (ranks.root && !passed) std::fprintf(stderr, "jacobi3d: FAILED\n");
  return passed;
}

}  // namespace

int main(int argc, char** argv) { return run("jacobi3d", argc, argv, jacobi3d); }
