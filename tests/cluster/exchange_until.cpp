// SPDX-License-Identifier: BSD-3-Clause
// The program of tests/cluster: ranks in a ring exchange with those up to two away, or in a cube
// with all around them, and check every word. They do until SIGTERM or SIGUSR1 comes to one of
// them, or for so many starts. Then all end in order, so there is a report. Rank 0 says when all
// ranks have left MPI_Init, what was chosen and how long an exchange took, and each rank where it
// ran.
//
//   exchange_until --starts n [--words n] [--dimensions 1 or 3]
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <tonari/tonari.hpp>
#include <vector>

namespace {

volatile sig_atomic_t asked_by = 0;
void end_in_order(int number) { asked_by = number; }

struct Options {
  std::int64_t starts = 100;
  int words = 4;
  int dimensions = 1;
};

Options read(std::span<char*> words) {
  Options options;
  for (std::size_t k = 1; k + 1 < words.size(); k += 2) {
    const std::string_view word = words[k];
    const long value = std::strtol(words[k + 1], nullptr, 10);
    if (word == "--starts")
      options.starts = value;
    else
      (word == "--words" ? options.words : options.dimensions) = static_cast<int>(value);
  }
  return options;
}

std::int64_t word(int from, int to, std::size_t at, std::int64_t start) {
  return start << 32 | (std::int64_t{from} << 20) | (std::int64_t{to} << 8) |
         static_cast<std::int64_t>(at % 251);
}

// Of a ring, or of a cube.
std::vector<int> offsets_in(int dimensions) {
  if (dimensions == 1) return {-2, -1, 1, 2};
  std::vector<int> offsets;
  for (const int x : {-1, 0, 1})
    for (const int y : {-1, 0, 1})
      for (const int z : {-1, 0, 1})
        if (x != 0 || y != 0 || z != 0) offsets.insert(offsets.end(), {x, y, z});
  return offsets;
}

// Microseconds of the middle one of those in the second half.
double typical(std::span<double> seconds) {
  if (seconds.empty()) return 0;
  const std::span<double> later = seconds.subspan(seconds.size() / 2);
  std::ranges::nth_element(later, later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2));
  return later[later.size() / 2] * 1e6;
}

// Returns how many words were wrong on this rank.
std::int64_t run(MPI_Comm ranks, const Options& options) {
  constexpr std::size_t most_times = 1000;
  int me = 0;
  MPI_Comm_rank(ranks, &me);
  const tonari::Neighborhood near(ranks, offsets_in(options.dimensions));
  const std::vector<int> sources = near.sources(), targets = near.targets();
  const auto length = static_cast<std::size_t>(options.words);
  std::vector<std::int64_t> out(targets.size() * length), in(out.size());
  std::vector<double> seconds;
  seconds.reserve(most_times);
  tonari::Request request = near.alltoall_init(out, in);
  std::int64_t wrong = 0, start = 0;
  int by = 0;
  for (; start < options.starts && by == 0; ++start) {
    for (std::size_t at = 0; at < out.size(); ++at)
      out[at] = word(me, targets[at / length], at % length, start);
    const double begin = MPI_Wtime();
    request.start();
    request.wait();
    if (seconds.size() < most_times) seconds.push_back(MPI_Wtime() - begin);
    for (std::size_t at = 0; at < in.size(); ++at)
      wrong += in[at] != word(sources[at / length], me, at % length, start);
    if (start % 4 != 0) continue;
    by = asked_by;
    MPI_Allreduce(MPI_IN_PLACE, &by, 1, MPI_INT, MPI_MAX, ranks);
    if (me == 0 && start == 0) std::printf("begun\n"), std::fflush(stdout);
  }
  if (me == 0) std::printf("%s\n", request.describe().c_str());
  if (me == 0) std::printf("signal %d, starts %lld\n", by, static_cast<long long>(start));
  if (me == 0) std::printf("an exchange: %.1f us\n", typical(seconds));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  for (int number : {SIGTERM, SIGUSR1}) signal(number, end_in_order);
  MPI_Init(&argc, &argv);
  const Options options = read({argv, static_cast<std::size_t>(argc)});
  int size = 0, me = 0, sides[] = {0, 0, 0};
  const int periodic[] = {1, 1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) std::printf("MPI runs\n"), std::fflush(stdout);
  MPI_Dims_create(size, options.dimensions, sides);
  MPI_Comm ranks = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, options.dimensions, sides, periodic, 0, &ranks);
  MPI_Comm_rank(ranks, &me);
  std::int64_t wrong = 0;
  try {
    wrong = run(ranks, options);
  } catch (const tonari::Failure& failure) {
    std::fprintf(stderr, "rank %d: %s\n", me, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::printf("rank %d on %s: %lld wrong\n", me, host, static_cast<long long>(wrong));
  MPI_Comm_free(&ranks);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
