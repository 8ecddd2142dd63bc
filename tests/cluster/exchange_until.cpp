// SPDX-License-Identifier: BSD-3-Clause
// The program of tests/cluster: ranks in a ring exchange with those up to two away and check every
// word, until SIGTERM or SIGUSR1 comes to one of them, or for so many starts. Then all end in
// order, so there is a report. Rank 0 says what was chosen, and each rank where it ran.
//
//   exchange_until --starts n [--words n]
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <tonari/tonari.hpp>
#include <vector>

namespace {

volatile sig_atomic_t asked_by = 0;
void end_in_order(int number) { asked_by = number; }

struct Options {
  std::int64_t starts = 100;
  int words = 4;
};

Options read(std::span<char*> words) {
  Options options;
  for (std::size_t k = 1; k + 1 < words.size(); k += 2) {
    const bool starts = std::strcmp(words[k], "--starts") == 0;
    const long value = std::strtol(words[k + 1], nullptr, 10);
    if (starts)
      options.starts = value;
    else
      options.words = static_cast<int>(value);
  }
  return options;
}

std::int64_t word(int from, int to, std::size_t at, std::int64_t start) {
  return start << 32 | (std::int64_t{from} << 20) | (std::int64_t{to} << 8) |
         static_cast<std::int64_t>(at % 251);
}

const std::array offsets{-2, -1, 1, 2};

// Returns how many words were wrong on this rank.
std::int64_t run(MPI_Comm ring, const Options& options) {
  int me = 0;
  MPI_Comm_rank(ring, &me);
  const tonari::Neighborhood near(ring, std::vector<int>(offsets.begin(), offsets.end()));
  const std::vector<int> sources = near.sources(), targets = near.targets();
  const auto length = static_cast<std::size_t>(options.words);
  std::vector<std::int64_t> out(offsets.size() * length), in(out.size());
  tonari::Request request = near.alltoall_init(out, in);
  std::int64_t wrong = 0, start = 0;
  int by = 0;
  for (; start < options.starts && by == 0; ++start) {
    for (std::size_t at = 0; at < out.size(); ++at)
      out[at] = word(me, targets[at / length], at % length, start);
    request.start();
    request.wait();
    for (std::size_t at = 0; at < in.size(); ++at)
      wrong += in[at] != word(sources[at / length], me, at % length, start);
    if (start % 4 != 0) continue;
    by = asked_by;
    MPI_Allreduce(MPI_IN_PLACE, &by, 1, MPI_INT, MPI_MAX, ring);
    if (me == 0 && start == 0) std::printf("begun\n"), std::fflush(stdout);
  }
  if (me == 0) std::printf("%s\n", request.describe().c_str());
  if (me == 0) std::printf("signal %d, starts %lld\n", by, static_cast<long long>(start));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  for (int number : {SIGTERM, SIGUSR1}) signal(number, end_in_order);
  MPI_Init(&argc, &argv);
  int ranks = 0, me = 0, periodic = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &me);
  std::int64_t wrong = 0;
  try {
    wrong = run(ring, read({argv, static_cast<std::size_t>(argc)}));
  } catch (const tonari::Failure& failure) {
    std::fprintf(stderr, "rank %d: %s\n", me, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::printf("rank %d on %s: %lld wrong\n", me, host, static_cast<long long>(wrong));
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
