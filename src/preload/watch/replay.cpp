// SPDX-License-Identifier: BSD-3-Clause
#include "preload/watch/replay.hpp"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <utility>

#include "preload/watch/rehearsal.hpp"

namespace tonari::watch {
namespace {

struct Wanted {
  std::uint64_t key;
  double seconds;
};

// The candidates of all ranks, those first that took the most time of all ranks together.
std::vector<std::uint64_t> keys_of_all(const std::vector<Candidate>& mine, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  std::vector<Wanted> own, all;
  for (const Candidate& one : mine) own.push_back({one.key, one.seconds});
  const int bytes = static_cast<int>(own.size() * sizeof(Wanted));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size());
  PMPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  int end = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) places[rank] = end, end += counts[rank];
  all.resize(static_cast<std::size_t>(end) / sizeof(Wanted));
  PMPI_Allgatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE,
                  comm);
  std::map<std::uint64_t, double> together;
  for (const Wanted& one : all) together[one.key] += one.seconds;
  std::vector<std::uint64_t> keys;
  for (const auto& [key, seconds] : together) keys.push_back(key);
  std::ranges::sort(keys, [&](std::uint64_t a, std::uint64_t b) {
    return std::pair(-together[a], a) < std::pair(-together[b], b);
  });
  return keys;
}

}  // namespace

void replay_all(std::vector<Candidate>& mine, std::size_t most) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<std::uint64_t> keys = keys_of_all(mine, comm);
  keys.resize(std::min(most, keys.size()));
  for (Candidate& one : mine) one.replay.why = "others took more time";
  for (const std::uint64_t key : keys) {
    const auto found = std::ranges::find(mine, key, &Candidate::key);
    const bool here = found != mine.end();
    const Replay replay =
        replayed(here ? found->pattern : nullptr, here && found->collective, comm);
    if (here) found->replay = replay;
  }
  PMPI_Comm_free(&comm);
}

}  // namespace tonari::watch
